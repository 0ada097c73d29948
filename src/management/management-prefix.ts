/** Path prefix of the management API. */
export const managementPrefix = '/manage/v1';
