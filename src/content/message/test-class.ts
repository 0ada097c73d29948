import { scheduledClass, scheduledClassOffset } from './scheduled-class.ts';

/**
 * The retention class of test messages, in days, which no account has. It is the mark of a test message everywhere: its row, queue
 * entry, events, links and webhooks have it. They have partitions of their own, where an account has few messages.
 */
export const testClass = 7;

/** Messages that an account keeps; the oldest go first. */
export const maxTestMessages = 1_000;

/** True if the message was sent with a test key. */
export function isTestClass(retentionDays: number): boolean {
  return retentionDays % scheduledClassOffset === testClass;
}

const classes = `(${testClass}, ${scheduledClass(testClass)})`;

/** SQL: true for test messages. @param days their retention class; trusted SQL */
export function isTest(days: string): string {
  return `${days} in ${classes}`;
}

/** SQL: true for messages that count. @param days their retention class; trusted SQL */
export function isLive(days: string): string {
  return `${days} not in ${classes}`;
}
