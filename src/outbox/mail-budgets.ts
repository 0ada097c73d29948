import type { Budget } from '../foundation/database/budget-store.ts';
import type { AccountId } from '../foundation/ids.ts';

const daySeconds = 86_400;

/** Mails a day that accounts cause, so that nobody can flood mailboxes from the address of the installation. */
export const mailsPerDay = {
  /** Links that an account asks for: those to one address, those of one kind to it from all accounts, and all. */
  accountToAddress: 5,
  toAddress: 15,
  account: 100,
  installation: 10_000,
  /** Password links to one address: those that a network asks for, and all. Strangers ask for them, so each network has its own. */
  networkToAddress: 5,
  linksToAddress: 30,
  /** Notices about an account, above which they are collected for hours. */
  accountNotices: 200,
} as const;

type LinkKind = 'invitation' | 'sender-confirmation';

/** The budgets of a link that an account asks for. @param address in lower case */
export function accountLinkBudgets(
  kind: LinkKind,
  accountId: AccountId,
  address: string,
): readonly [toAddress: Budget, all: Budget, account: Budget, installation: Budget] {
  const seconds = daySeconds;
  return [
    { key: ['mail', kind, address, accountId], max: mailsPerDay.accountToAddress, seconds },
    { key: ['mail', kind, address], max: mailsPerDay.toAddress, seconds },
    { key: ['mail of account', accountId], max: mailsPerDay.account, seconds },
    { key: ['mail of accounts'], max: mailsPerDay.installation, seconds },
  ];
}

/** The budgets of a link that a stranger asks for. @param address in lower case */
export function strangersLinkBudgets(address: string, network: string): readonly Budget[] {
  const seconds = daySeconds;
  return [
    { key: ['password link', address, network], max: mailsPerDay.networkToAddress, seconds },
    { key: ['password link', address], max: mailsPerDay.linksToAddress, seconds },
  ];
}

/** Counts the notices about the same thing to one address. */
export function noticeBudget(...group: readonly string[]): Budget {
  return { key: ['notice', ...group], max: Number.MAX_SAFE_INTEGER, seconds: daySeconds };
}

/** Counts the notices about an account. */
export function accountNoticeBudget(accountId: string): Budget {
  const max = mailsPerDay.accountNotices;
  return { key: ['notices about account', accountId], max, seconds: daySeconds };
}

/** Seconds that a notice waits for others of its kind: a moment, and longer with each one of the last day. */
const waitSeconds = [3, 3, 3, 60, 300, 900] as const;
const maxWaitSeconds = 3_600;
const waitBeyondBudgetSeconds = 4 * 3_600;

/** @param sent notices of the same kind in the last day @param left of the account's budget */
export function noticeDelay(sent: number, left: number): number {
  return left <= 0 ? waitBeyondBudgetSeconds : (waitSeconds[sent] ?? maxWaitSeconds);
}
