/**
 * Max events of each kind stored per message. Anyone who has the message can repeat them, and unique counts only need
 * the first event.
 */

/** Opens of a message, or clicks on one link, per reader class. */
export const maxEngagements = 50;

/** Clicks on all links of a message, per reader class. */
export const maxClicksPerMessage = 500;

/** Requests for the page of a guarded link, and uses of its button, per field. */
export const maxLinkVisits = 20;

/** The same of all guarded links of a message. */
export const maxLinkVisitsPerMessage = 200;

/** Bounces, delays, complaints or unsubscribes per recipient of a message. */
export const maxFeedbackEvents = 50;
