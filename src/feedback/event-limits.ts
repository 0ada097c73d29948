/**
 * How many events of each kind a message stores. Anyone who has the message can repeat them at will: its image and links
 * open without a sign-in, and its return path takes mail from everywhere. Unique counts need the first event only.
 */

/** Opens of a message by one class of readers, and clicks on one link by one class. */
export const maxEngagements = 50;

/** Clicks on all links of a message together by one class of readers. */
export const maxClicksPerMessage = 500;

/** Bounces, delays, complaints or unsubscribes of one recipient of a message. */
export const maxFeedbackEvents = 50;
