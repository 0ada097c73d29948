export type { FakeBody, FakeField, FakeFields } from './testing/fake-rules.ts';
export {
  type FakeMessage,
  type FakeOptions,
  type FakeSignalpost,
  type FakeTemplate,
  fakeSignalpost,
} from './testing/fake-service.ts';
export {
  createInbox,
  type Inbox,
  type InboxOptions,
  type MailWait,
  type ReceivedMail,
} from './testing/inbox.ts';
