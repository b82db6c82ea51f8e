import { findPlan } from './catalogue.ts';
import type { Findings } from './findings.ts';
import type { Press } from './ledger.ts';
import type { Announcement } from './read-pages.ts';
import { accountOf, type Books, dayOf, findFingerprint, findTrial, isLive, saleOf } from './stripe-books.ts';
import type { Member } from './world.ts';

interface Case {
  books: Books;
  member: Member;
  findings: Findings;
  members: readonly Member[];
}

const dayMs = 24 * 60 * 60_000;
/** The second mail of trials of more than a week. */
const noticeMs = 7 * dayMs;
/** The jobs of some minutes have run since it was due. */
const lateMs = dayMs;

const mayHaveBegun = ({ trialDay, outcome }: Press): boolean =>
  trialDay !== undefined && outcome !== 'changed' && outcome !== 'refused';

/** How what a page offers is wrong; undefined: it is right. */
export function findOfferFault(
  { books, member, members }: Omit<Case, 'findings'>,
  { planId, trialDays }: Announcement,
): string | undefined {
  const account = accountOf(books, member.email);
  const days = findPlan(planId)?.trialDays;
  const hasTried = member.ledger.trial !== undefined;
  const hasPaid = account.invoices.some((invoice) => invoice.status === 'paid' && saleOf(books, invoice));
  if (trialDays !== undefined) {
    if (hasTried) return `the page offers a second trial, of ${planId}`;
    if (hasPaid) return `the page offers a trial of ${planId} to a member who has paid for a plan`;
    if (account.customers.some(({ balance }) => balance > 0))
      return `the page offers a trial of ${planId} to a member who owes something`;
    return trialDays === days ? undefined : `the page offers ${trialDays} days of ${planId}, which has ${days}`;
  }
  if (days === undefined || hasTried || hasPaid) return undefined;
  // A payment that is not done, a debt, or a press of which nothing is known: then none may be offered.
  const isOpen = account.invoices.some((invoice) => saleOf(books, invoice));
  const isWaiting = account.subscriptions.some(({ pending_update: pending }) => pending);
  const owes = account.customers.some(({ balance }) => balance > 0);
  if (isOpen || isWaiting || owes || member.ledger.presses.some(mayHaveBegun)) return undefined;
  const card = findFingerprint(books, account);
  const others = members.filter((one) => one !== member);
  if (card !== undefined && others.some(({ ledger }) => ledger.trialCards.has(card))) return undefined;
  return `the page sells ${planId} without its ${days} days, which the member never had`;
}

/** The card with which a trial may begin, before the press is judged. */
export function noteCard(books: Books, { email, ledger }: Member): void {
  const card = findFingerprint(books, accountOf(books, email));
  if (card !== undefined && ledger.presses.some(mayHaveBegun)) ledger.trialCards.add(card);
}

/** What must hold at any moment: one trial for a member and a card, which a page has announced. */
export function judgeTrials({ books, member, findings, members }: Case): void {
  if (findings.isBroken(member)) return;
  const { ledger, email } = member;
  const account = accountOf(books, email);
  const report = (detail: string) => findings.report('O14', member, detail);
  if (ledger.offerFault !== undefined) report(ledger.offerFault);
  const found = findTrial(books, account);
  if (!found || (ledger.trial?.endsOn === found.endsOn && ledger.trial.planId === found.planId)) return;
  const { planId, endsOn } = found;
  if (ledger.trial) report(`a second trial, of ${planId} until ${endsOn}`);
  if (account.invoices.some((one) => one.status === 'paid' && saleOf(books, one)))
    report(`a trial of ${planId} after a paid plan`);
  const press = ledger.presses.findLast(mayHaveBegun);
  if (press?.planId !== planId || press.trialDay !== endsOn) {
    report(`a trial of ${planId} until ${endsOn}; announced was ${press?.planId} until ${press?.trialDay}`);
  }
  const card = findFingerprint(books, account);
  const other = members.find((one) => one !== member && one.ledger.trial?.card === card);
  if (card === undefined) report('a trial without a card');
  else if (other) report(`a trial with the card of that of ${other.email}`);
  ledger.trial = { planId, endsOn, card };
}

/** After quiet time: the plan of a trial, and the mails about its first charge. */
export function judgeTrialMails({ books, member, findings, nowMs }: Omit<Case, 'members'> & { nowMs: number }): void {
  if (findings.isBroken(member)) return;
  const { ledger, email } = member;
  const { trial, trialMails } = ledger;
  const live = accountOf(books, email).subscriptions.find(isLive);
  if (!trial) {
    if (trialMails.length > 0) findings.report('O14', member, 'a mail about a trial that never began');
    return;
  }
  for (const kind of ['began', 'ends'] as const) {
    const own = trialMails.filter((one) => one.kind === kind);
    if (own.length > 1) findings.report('O14', member, `${own.length} mails "${kind}" about one trial`);
    const wrong = own.find(({ day }) => day !== trial.endsOn);
    if (wrong) findings.report('O14', member, `a mail names ${wrong.day}, the trial ends on ${trial.endsOn}`);
  }
  const isGoing =
    live?.status === 'trialing' && !live.cancel_at_period_end && live.cancel_at === null && live.schedule === null;
  if (!isGoing || live.trial_end === null || dayOf(live.trial_end) !== trial.endsOn) return;
  const isTold = (kind: 'began' | 'ends') => trialMails.some((one) => one.kind === kind);
  if (!isTold('began')) findings.report('O14', member, 'no mail tells that the trial has begun');
  const leftMs = live.trial_end * 1_000 - nowMs;
  if (leftMs < noticeMs - lateMs && !isTold('ends'))
    findings.report('O14', member, `no mail tells of the first charge on ${trial.endsOn}`);
}
