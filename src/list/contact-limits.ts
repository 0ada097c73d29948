/** Fields of one contact, characters of the name of one and of its value: alike wherever contacts come from. */
export const maxContactFields = 100;
export const maxContactFieldNameLength = 200;
export const maxContactFieldLength = 10_000;

/** Columns of a file of contacts: the address and the fields. */
export const maxContactColumns = maxContactFields + 1;
