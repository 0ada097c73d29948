/** Fields of one contact, characters of the name of one and of its value: alike wherever contacts come from. */
export const mostFields = 100;
export const longestName = 200;
export const longestValue = 10_000;

/** Columns of a file of contacts: the address and the fields. */
export const mostColumns = mostFields + 1;
