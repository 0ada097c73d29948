/** Values of `queue_entry.priority`: transactional messages go first within their account. */
export const priorities = { transactional: 0, other: 1 } as const;
