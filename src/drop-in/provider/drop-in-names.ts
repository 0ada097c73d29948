/** The providers whose APIs the service speaks. The prefix of each is `/NAME`. */
export const dropInNames = ['resend', 'postmark', 'sendgrid', 'mailgun', 'ses'] as const;

export type DropInName = (typeof dropInNames)[number];
