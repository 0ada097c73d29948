import { newId } from '../../base/values/ids.ts';
import type { DemoEvent, DemoMessage } from './demo-data-store.ts';
import { demoPerson } from './demo-people.ts';
import { demoSenders, demoTemplates } from './demo-templates.ts';

/** Days of messages. */
const days = 30;
const dayMs = 86_400_000;
const minuteMs = 60_000;
const messagesPerPerson = 4;
/** Messages of the last hour, so that a new overview shows some at once. */
const recentMessages = 10;
/** Share of messages by hour (UTC). */
const hours = [2, 1, 1, 1, 1, 2, 3, 5, 7, 9, 10, 10, 9, 9, 10, 11, 11, 10, 9, 8, 7, 6, 4, 3];

/** Numbers from 0 to 1, the same for the same seed (Mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;

/** Whose weight the number falls on. */
function pick<Item>(
  items: readonly Item[],
  weightOf: (item: Item) => number,
  number: number,
): Item {
  const total = items.reduce((sum, item) => sum + weightOf(item), 0);
  let left = number * total;
  for (const item of items) {
    left -= weightOf(item);
    if (left < 0) return item;
  }
  return items.at(-1) as Item;
}

export interface DemoPlan {
  readonly messages: DemoMessage[];
  readonly events: DemoEvent[];
}

/**
 * Finished messages of the last 30 days, oldest first, with what happened to them: fewer at night and on weekends, and slowly
 * growing. Most are delivered; others are delayed, bounce, expire, or are canceled.
 * @param now milliseconds since the epoch; nothing is later
 */
export function planDemo(count: number, now: number, seed = 1): DemoPlan {
  const random = randomNumbers(seed);
  const plan: DemoPlan = { messages: [], events: [] };
  acceptTimes(count, now, random).forEach((acceptedAt, number) => {
    addMessage(
      plan,
      { number, acceptedAt, now, people: Math.ceil(count / messagesPerPerson) },
      random,
    );
  });
  return plan;
}

function acceptTimes(count: number, now: number, random: Random): number[] {
  const start = Math.floor(now / dayMs) * dayMs - (days - 1) * dayMs;
  const places = Array.from({ length: days }, (_, day) => {
    const weekday = new Date(start + day * dayMs).getUTCDay();
    return { day, weight: (weekday % 6 === 0 ? 0.5 : 1) * (1 + day / 60) };
  });
  const recent = Math.min(recentMessages, count);
  const times = Array.from({ length: recent }, (_, index) => now - (3 + index * 5) * minuteMs);
  while (times.length < count) {
    const { day } = pick(places, ({ weight }) => weight, random());
    const hour = pick([...hours.keys()], (at) => hours[at] ?? 0, random());
    const time = Math.floor(start + day * dayMs + (hour + random()) * 60 * minuteMs);
    if (time < now - 5 * minuteMs) times.push(time);
    // Of a day that has only begun, there may be nothing yet.
    else if (day === 0) times.push(now - 5 * minuteMs);
  }
  return times.sort((a, b) => a - b);
}

interface DemoPlace {
  readonly number: number;
  readonly acceptedAt: number;
  readonly now: number;
  readonly people: number;
}

type Outcome = 'delivered' | 'bounced' | 'expired' | 'canceled' | 'suppressed';

/** Of 1,000 messages. */
const outcomes: readonly (readonly [Outcome, number])[] = [
  ['delivered', 975],
  ['bounced', 16],
  ['suppressed', 4],
  ['expired', 3],
  ['canceled', 2],
];

function addMessage(plan: DemoPlan, place: DemoPlace, random: Random): void {
  const { number, acceptedAt, now, people } = place;
  const template = pick(demoTemplates, ({ share }) => share, random());
  const person = demoPerson(Math.floor(random() * people));
  const [outcome] = pick(outcomes, ([, weight]) => weight, random());
  const deferred = outcome === 'delivered' && random() < 0.03;
  const took =
    outcome === 'expired'
      ? 15 * minuteMs
      : 250 - 700 * Math.log(1 - random()) + (deferred ? 90_000 : 0);
  const stateAt = Math.min(acceptedAt + took, now);
  const id = idAt(acceptedAt);
  const tracked = !template.transactional || random() < 0.5;
  const sender = demoSenders.find(({ address }) => address === template.sender);
  plan.messages.push({
    id,
    templateId: template.id,
    state: outcome,
    transactional: template.transactional,
    tracked,
    externalId: template.tag === 'orders' ? `A-${10_000 + number}` : null,
    tag: template.tag,
    acceptedAt: new Date(acceptedAt),
    stateAt: new Date(stateAt),
    content: {
      to: person.address,
      toName: person.name,
      from: { address: template.sender, name: sender?.displayNames[0] },
      values: template.values(person, number),
    },
  });
  const add = (kind: string, at: number, detail: object, recipient: number | null = 0) => {
    if (at <= now)
      plan.events.push({ messageId: id, id: idAt(at), at: new Date(at), kind, recipient, detail });
  };
  const server = `mx.${person.address.slice(person.address.indexOf('@') + 1)}:25`;
  if (deferred) add('deferred', acceptedAt + 180, deferral(server));
  add(outcome, stateAt, outcomeDetail(outcome, server, deferred ? 2 : 1, random));
  if (outcome !== 'delivered') return;
  if (random() < 0.0008)
    add('complained', stateAt + 40 * minuteMs, { by: 'mail', feedbackType: 'abuse' });
  if (!template.transactional && random() < 0.02)
    add('unsubscribed', stateAt + 90 * minuteMs, { how: 'one-click' });
  if (tracked)
    addReading((kind, at, detail) => add(kind, at, detail, null), stateAt, number, random);
}

/** Opens and clicks by people and machines, minutes to hours after delivery. */
function addReading(
  add: (kind: string, at: number, detail: object) => void,
  deliveredAt: number,
  number: number,
  random: Random,
): void {
  const readAt = deliveredAt + 20_000 - 70 * minuteMs * Math.log(1 - random() * 0.999);
  if (random() < 0.28) add('opened', deliveredAt + 4_000, reader('prefetch', number));
  if (random() < 0.55) {
    add('opened', readAt, reader('person', number));
    if (random() < 0.12) add('opened', readAt + 2 * 60 * minuteMs, reader('person', number));
    if (random() < 0.36) add('clicked', readAt + 15_000, { link: 0, ...reader('person', number) });
  }
  if (random() < 0.03)
    add('clicked', deliveredAt + 3_000, { link: 0, ...reader('scanner', number) });
}

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0',
];

const reasons = {
  person: 'no sign of a scanner or prefetch',
  prefetch: 'network: Apple Mail Privacy Protection',
  scanner: 'followed several links at once',
} as const;

/** From a network for documentation (RFC 5737). */
function reader(kind: keyof typeof reasons, number: number): object {
  return {
    class: kind,
    reason: reasons[kind],
    network: '198.51.100.0/24',
    userAgent: agents[number % agents.length],
  };
}

const accepted = '250 2.0.0 OK: queued';
const dialog = ['* connection reused', '> MAIL FROM:<bounce>', '> RCPT TO:<to>', '> DATA'];

function deferral(server: string): object {
  const reply = '451 4.7.1 Greylisted, try again later';
  return {
    attempt: 1,
    reason: `the server temporarily rejected the recipient: ${reply}`,
    reply,
    stage: 'rcpt',
    cause: 'greylist',
    retryInSeconds: 90,
    server,
    transcript: [...dialog, '< 250 Accepted', `< ${reply}`],
  };
}

const rejections = [
  ['550 5.1.1 No such user here', 'no-mailbox'],
  ['550 5.1.1 No such user here', 'no-mailbox'],
  ['552 5.2.2 Mailbox full', 'mailbox-full'],
  ['550 5.7.1 Message rejected as spam by content scanning', 'content'],
] as const;

function outcomeDetail(outcome: Outcome, server: string, attempt: number, random: Random): object {
  switch (outcome) {
    case 'delivered': {
      const replies = ['< 250 Accepted', '< 250 Accepted', '< 354 End data with <CR><LF>.<CR><LF>'];
      const transcript = [...dialog, ...replies, `< ${accepted}`];
      return { attempt, reason: accepted, reply: accepted, stage: 'final', server, transcript };
    }
    case 'bounced': {
      const [reply, cause] = rejections[Math.floor(random() * rejections.length)] ?? rejections[0];
      const reason = `the server rejected the recipient: ${reply}`;
      const transcript = [...dialog, '< 250 Accepted', `< ${reply}`];
      return { attempt, reason, reply, stage: 'rcpt', cause, server, transcript };
    }
    case 'expired':
      return { attempt, reason: 'it could not be delivered within its freshness window' };
    case 'canceled':
      return { attempt, reason: 'canceled manually' };
    case 'suppressed':
      return { reason: 'the address is suppressed' };
  }
}

/** A UUID v7 (RFC 9562 section 5.7) of a past time. */
function idAt(timeMs: number): string {
  const time = Math.floor(timeMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
}
