/** What `JSON.stringify` escapes and PostgreSQL's JSON cannot hold: NUL and unpaired surrogates. */
const unstorable = /(?<=(?<!\\)(?:\\\\)*)\\u(?:(0000)|d[89a-f][0-9a-f]{2})/g;

/**
 * JSON that PostgreSQL can store and read texts from, whatever strangers put into them.
 * @param json as `JSON.stringify` writes it
 */
export function storableJson(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replace(unstorable, (_, nul?: string) => (nul === undefined ? '\ufffd' : ''));
}
