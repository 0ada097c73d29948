import { type HostileAttack, json } from './attack.ts';

const paths = [
  '/manage/v1/set-up',
  '/token',
  '/intake/ses',
  '/intake/postmark',
  '/intake/mailgun',
  '/intake/sendgrid',
];

/** 4 MiB from a stranger to what takes bodies of strangers, and to intakes that are not configured. */
export const attackBodies: HostileAttack = (_target, client) => {
  const body = Buffer.alloc(4 * 1_048_576, 'x');
  let at = 0;
  return async () => {
    at += 1;
    const path = paths[at % paths.length] ?? '';
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await client.ask({ path, headers: path === '/token' ? form : json, body })).status;
  };
};
