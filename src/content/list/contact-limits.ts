/** Max fields of a contact, and max length of a field's name and value, for every source of contacts. */
export const maxContactFields = 100;
export const maxContactFieldNameLength = 200;
export const maxContactFieldLength = 10_000;

/** Columns of a contact file. Different contacts can have different fields. */
export const maxContactColumns = 10_001;
/** A row of a contact file: the largest header, or the largest contact that the API accepts. */
export const maxContactRowBytes = 8 * 1024 ** 2;
