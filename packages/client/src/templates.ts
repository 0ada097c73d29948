/**
 * The templates of your account. `signalpost-client types` writes a file that adds one member for each:
 * `{ data: the fields; locale: the languages }`. Without that file, every template id and every field is allowed.
 */
// biome-ignore lint/suspicious/noEmptyInterface: other files add members.
export interface Templates {}

/** Ids of the templates. */
export type TemplateId = keyof Templates extends never ? string : keyof Templates & string;
