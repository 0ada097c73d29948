import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  openSessionWorld,
  passwordFields,
  postToken,
  refreshFields,
} from '../../support/session-world.ts';
import type { TestService } from '../../support/test-service.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const { database, clock, service, world, startOther } = await openSessionWorld({
  movesClock: true,
});
const nodes = [service, await startOther()] as const;
const client = await world.addIntegration();

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds since the pair's oldest stored request, by the nodes' clock. */
async function ageOfOldest(personId: string): Promise<number> {
  const { rows } = await database.pool.query(
    'select extract(epoch from now() - initial_requests[1])::float8 * 1000 as age from session_pair where person_id = $1',
    [personId],
  );
  return Number(rows[0]?.age);
}

/** Moves the clock so that the pair's oldest request was this long ago. */
async function setAgeOfOldest(personId: string, milliseconds: number): Promise<void> {
  await clock.advance(milliseconds - (await ageOfOldest(personId)));
}

/**
 * Requests tokens while the pair's oldest request is still within the hour, and checks that the 429 says when it
 * leaves, however slow the machine is.
 */
async function refuse(node: TestService, person: { id: string; email: string }) {
  const before = await ageOfOldest(person.id);
  const refused = await postToken(node, passwordFields(person, client));
  const after = await ageOfOldest(person.id);
  assert.equal(refused.status, 429, refused.text);
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait <= Math.ceil((hour - before) / second), `${wait} s, ${before} ms after`);
  assert.ok(wait >= Math.ceil((hour - after) / second), `${wait} s, ${after} ms after`);
  return refused;
}

test('8: five initial requests an hour are granted, the sixth is a 429 on either node with the right Retry-After', async () => {
  await clock.reset();
  const person = await world.addPerson();
  for (let count = 0; count < 5; count += 1) {
    const response = await postToken(nodes[0], passwordFields(person, client));
    assert.equal(response.status, 200, response.text);
    await clock.advance(10 * minute);
  }
  for (const node of nodes) {
    const refused = await refuse(node, person);
    assert.equal(refused.body.error, 'slow_down');
    assert.equal(refused.headers.get('cache-control'), 'no-store');
    assert.equal(refused.headers.get('www-authenticate'), null);
  }
});

test('8: a request that leaves the hour while another one waits lets that one in', async () => {
  await clock.reset();
  const person = await world.addPerson();
  const request = () => postToken(nodes[0], passwordFields(person, client));
  for (let count = 0; count < 5; count += 1) assert.equal((await request()).status, 200);
  await setAgeOfOldest(person.id, hour - minute);
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query('select from session_pair where person_id = $1 for update', [person.id]);
  const waiting = request();
  await waitForLock(database);
  await clock.advance(2 * minute);
  await holder.query('rollback');
  holder.release();
  assert.equal((await waiting).status, 200);
});

test('8: the hour slides: a request counts for exactly 3600 seconds', async () => {
  await clock.reset();
  const person = await world.addPerson();
  for (let count = 0; count < 5; count += 1) {
    assert.equal((await postToken(nodes[0], passwordFields(person, client))).status, 200);
    await clock.advance(minute);
  }
  await setAgeOfOldest(person.id, hour - 5 * second);
  await refuse(nodes[1], person);
  await setAgeOfOldest(person.id, hour);
  assert.equal((await postToken(nodes[1], passwordFields(person, client))).status, 200);
  // Only the first of the five has left the hour; the second counts for another minute.
  await refuse(nodes[0], person);
});

test('8: waiting for Retry-After is always enough', async () => {
  await clock.reset();
  const person = await world.addPerson();
  for (let count = 0; count < 5; count += 1)
    await postToken(nodes[0], passwordFields(person, client));
  const refused = await postToken(nodes[0], passwordFields(person, client));
  await clock.advance(Number(refused.headers.get('retry-after')) * second);
  assert.equal((await postToken(nodes[0], passwordFields(person, client))).status, 200);
});

test('8: refresh requests neither count nor are refused by the allowance', async () => {
  await clock.reset();
  const person = await world.addPerson();
  let response = await postToken(nodes[0], passwordFields(person, client));
  for (let count = 0; count < 10; count += 1) {
    response = await postToken(nodes[1], refreshFields(response.body.refresh_token, client));
    assert.equal(response.status, 200);
  }
  for (let count = 0; count < 4; count += 1)
    response = await postToken(nodes[0], passwordFields(person, client));
  assert.equal(response.status, 200);
  assert.equal((await postToken(nodes[0], passwordFields(person, client))).status, 429);
  const refreshed = await postToken(nodes[0], refreshFields(response.body.refresh_token, client));
  assert.equal(refreshed.status, 200, 'the 429 did not affect the live refresh token');
});

test('8: the allowance is per user/client pair', async () => {
  await clock.reset();
  const [person, other] = [await world.addPerson(), await world.addPerson()];
  const elsewhere = await world.addIntegration();
  for (let count = 0; count < 5; count += 1)
    await postToken(nodes[0], passwordFields(person, client));
  assert.equal((await postToken(nodes[0], passwordFields(person, client))).status, 429);
  assert.equal((await postToken(nodes[0], passwordFields(person, elsewhere))).status, 200);
  assert.equal((await postToken(nodes[0], passwordFields(other, client))).status, 200);
});

test('wrong passwords use no allowance, and once it is used up they get the default error', async () => {
  await clock.reset();
  const person = await world.addPerson();
  const wrong = { ...passwordFields(person, client), password: 'wrong' };
  assert.equal((await postToken(nodes[0], wrong)).body.error, 'invalid_grant');
  for (let count = 0; count < 5; count += 1)
    assert.equal((await postToken(nodes[0], passwordFields(person, client))).status, 200);
  assert.equal((await postToken(nodes[0], wrong)).body.error, 'invalid_grant');
  assert.equal((await postToken(nodes[0], passwordFields(person, client))).status, 429);
});
