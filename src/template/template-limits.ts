/** Characters of the HTML, MJML or text source of a template; mail clients clip a message far below it. */
export const MAX_SOURCE_LENGTH = 512 * 1024;
/** Characters of a template's subject or preview text as written, markup included. */
export const MAX_LINE_LENGTH = 2000;
/** Tags (`{{…}}`) in one source. Mustache's parser looks at the rest of the source for some of them. */
export const MAX_TAGS = 1000;
/** Characters between the braces of one tag, and of one comment. */
export const MAX_TAG_LENGTH = 300;
export const MAX_COMMENT_LENGTH = 4000;
/** Sections inside sections. */
export const MAX_NESTING = 16;
/** Different fields in one template. */
export const MAX_FIELDS = 250;
/** Code points of a field's name. */
export const MAX_FIELD_NAME_LENGTH = 120;
/** Characters of a field's default, sample or description. */
export const MAX_FIELD_TEXT_LENGTH = 4000;
/** Bytes of UTF-8 that the HTML part, and the text part, of one message may have. */
export const MAX_RENDERED_BYTES = 2 * 1024 * 1024;
/** What `MAX_RENDERED_BYTES` is called in messages. */
export const MAX_RENDERED_TEXT = '2 MiB';
/** Characters of a subject or preview text after which no further value is filled in. */
export const MAX_FILLED_LINE = 64 * 1024;
