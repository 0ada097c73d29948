/** Max fields of a contact, and max length of a field's name and value, for every source of contacts. */
export const maxContactFields = 100;
export const maxContactFieldNameLength = 200;
export const maxContactFieldLength = 10_000;

/** Columns of a contact file: the address and the fields. */
export const maxContactColumns = maxContactFields + 1;
