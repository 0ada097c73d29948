/**
 * How the receiver is for some seconds: `silent` takes connections and says nothing; `busy` answers 421 to everything;
 * `slow` says one byte a second; `gone` takes no connections; `wordy` answers with 100 kB or 10,000 lines; `abrupt` hangs
 * up in the middle of every second dialogue, and after every second dot.
 */
export const weathers = ['silent', 'busy', 'slow', 'gone', 'wordy', 'abrupt'] as const;
export type Weather = (typeof weathers)[number];
