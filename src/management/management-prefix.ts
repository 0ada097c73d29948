/** Where the management API lives. */
export const managementPrefix = '/manage/v1';
