/** Characters of a template's HTML, MJML or text source; mail clients clip messages well below this. */
export const MAX_SOURCE_LENGTH = 512 * 1024;
/** Characters of a template's subject or preview text, markup included. */
export const MAX_LINE_LENGTH = 2000;
/** Tags (`{{…}}`) in one source. Mustache's parser scans the rest of the source for some of them. */
export const MAX_TAGS = 1000;
/** Characters between the braces of one tag or comment. */
export const MAX_TAG_LENGTH = 300;
export const MAX_COMMENT_LENGTH = 4000;
/** Depth of nested sections. */
export const MAX_NESTING = 16;
/** Distinct fields in one template. */
export const MAX_FIELDS = 250;
/** Code points of a field name. */
export const MAX_FIELD_NAME_LENGTH = 120;
/** Characters of a field's default, sample or description. */
export const MAX_FIELD_TEXT_LENGTH = 4000;
/** UTF-8 bytes of the HTML part, and of the text part, of one message. */
export const MAX_RENDERED_BYTES = 2 * 1024 * 1024;
/** Contents of one version in other languages. */
export const MAX_VARIANTS = 50;
/** Characters of all sources of one version, those of its variants included. */
export const MAX_VERSION_LENGTH = 2 * 1024 * 1024;
/** `MAX_RENDERED_BYTES` for error messages. */
export const MAX_RENDERED_TEXT = '2 MiB';
/** Characters of a rendered subject or preview text after which no further values are filled in. */
export const MAX_FILLED_LINE = 64 * 1024;
/** How deep lists and objects can stand inside each other. */
export const MAX_FIELD_DEPTH = 3;
/** Items of one list, those of lists inside its items included. */
export const MAX_LIST_ITEMS = 500;
/** UTF-8 bytes of the names and values of all lists and objects of one message. */
export const MAX_STRUCTURED_BYTES = 128 * 1024;
/** `MAX_STRUCTURED_BYTES` for error messages. */
export const MAX_STRUCTURED_TEXT = '128 KiB';
/** Tags in the sections of lists in one part, those sections included: each is worth up to `MAX_LIST_ITEMS` tags. */
export const MAX_LIST_TAGS = 200;
/** Images of one version, and the bytes of their contents together. */
export const MAX_IMAGES = 20;
export const MAX_IMAGE_BYTES = 2 * 1024 * 1024;
/** Members of one item or object, used or not, and the code points of their names. */
export const MAX_MEMBERS = 1000;
export const MAX_MEMBER_NAME_LENGTH = 1000;
