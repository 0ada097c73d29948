import { type HostileAttack, json } from './attack.ts';

/** Sends whose values are as large as a body takes: of 240 fields in 990 places, and of one that stands in the template 400 times. */
export const attackLargeSends: HostileAttack = (target, client) => {
  const many = Object.fromEntries(
    Array.from({ length: 240 }, (_, at) => [`Field ${at}`, 'n'.repeat(1_000)]),
  );
  const repeated = { Link: 'https://shop.test/', Notes: 'n'.repeat(250_000) };
  const bodies = [
    ['t-many', many],
    ['t-links', repeated],
  ] as const;
  const calls = bodies.map(([template, values]) => ({
    path: `/ete/v1/email/${target.accountId}/${template}`,
    headers: { ...json, authorization: `Bearer ${target.apiKey}` },
    body: JSON.stringify({
      envelope: { toAddress: 'reader@example.test' },
      content: { personalizationDataMap: values },
      actions: { trackOpens: true, trackClicks: true },
    }),
  }));
  let at = 0;
  return async () => {
    at += 1;
    return (await client.ask(calls[at % calls.length] ?? { path: '/' })).status;
  };
};
