/**
 * The races of the suite with ten times as many rounds: 1,000 times 50 parallel uses of one refresh token and of one
 * code, against two nodes.
 */
process.env.ROUNDS = '1000';
await import('../../test-system/session/token-races.test.ts');
await import('../../test/accounts/oauth/authorize.test.ts');
