import type { ProviderReport } from '../../federation/index.ts';
import type { CarrierState } from '../../messages/index.ts';
import { isClockBehind } from '../../store/index.ts';
import { counted, moment } from '../text.ts';
import { type Area, type Finding, rounded } from './finding.ts';
import { fault, note, ok, row, table, warning } from './table.ts';

/** A check that is impossible because these variables are missing or invalid. */
export const judgeMissing = (area: Area, names: readonly string[]): Finding[] =>
  table(area, [
    note(`${area}.skipped`)`
    Not looked at: ${names.join(' and ')} cannot be read or ${names.length === 1 ? 'is' : 'are'} missing.
    Why: ${counted(names.length, 'variable')} must be right before this can be checked.
    Do: Mend the configuration and run \`foyer doctor\` again.`,
  ]);

/** A check that failed itself. */
export const judgeFailure = (area: Area, reason: string): Finding[] =>
  table(area, [
    warning(`${area}.failed`)`This could not be checked: ${reason}
    Why: The check met something that it does not know.
    Do: If the reason does not tell you more, report it as a fault of Foyer.`,
  ]);

/** A reading of another clock, with this machine's before and after (milliseconds since the epoch). */
export interface ClockReading {
  /** `PostgreSQL`, `Redis`, `PUBLIC_URL`. */
  source: string;
  beforeMs: number;
  theirsMs: number;
  afterMs: number;
  /** Resolution of the other clock: a Date header has whole seconds, rounded down. */
  grainMs?: number;
}

/** The minimum by which the other clock is ahead, given the duration of the query; negative if it is behind. */
export function clockOffset({ beforeMs, theirsMs, afterMs, grainMs = 0 }: ClockReading): number {
  if (theirsMs > afterMs) return theirsMs - afterMs;
  if (theirsMs + grainMs < beforeMs) return theirsMs + grainMs - beforeMs;
  return 0;
}

/** Clock differences: tokens that are not valid yet, sessions that end too early. */
export function judgeClock(reading: ClockReading): Finding[] {
  const { source } = reading;
  const offset = clockOffset(reading);
  const apart = Math.abs(offset);
  const seconds = rounded(apart / 1000);
  const id = `clock.${source.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return table('clock', [
    ok(id, apart < 2_000)`The clock of ${source} agrees with this machine’s (to ${seconds} s).`,
    row(apart < 30_000 ? 'warning' : 'fault')(id)`
    The clock of ${source} is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} this machine’s.
    Why: Client apps refuse tokens that seem to come from the future or to be over; sessions, codes and locks end too early or too late.
    Do: Let all hosts take their time from the network: \`timedatectl set-ntp true\` (or chrony), then look with \`timedatectl\`.`,
  ]);
}

/** Clocks of one host alone: nothing but its own data says that it is wrong. */
export const judgeClockOfData = (lastChangeMs: number | undefined, nowMs: number): Finding[] =>
  table('clock', [
    fault('clock.data', lastChangeMs !== undefined && isClockBehind(lastChangeMs, nowMs))`
    This machine’s clock says ${moment(nowMs)}, and the tables were made at ${moment(lastChangeMs ?? 0)}.
    Why: Client apps refuse tokens that seem to be over; codes and locks do not end.
    Do: Set the clock (\`timedatectl set-ntp true\`, or chrony), look with \`timedatectl\`, and restart Foyer.`,
  ]);

const noMails = 'Codes and notices do not leave: no one can sign up, confirm an address or reset a password.';
const noTexts = 'Codes by text message do not leave: members with that second factor cannot sign in.';

/** The services that send messages. */
const carriers = {
  sendgrid: { service: 'SendGrid', variable: 'SENDGRID_API_KEY', why: noMails },
  smtp: { service: 'The mail server', variable: 'SMTP_URL', why: noMails },
  twilio: { service: 'Twilio', variable: 'TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN', why: noTexts },
};

/** @param say makes a text of the service's reason, without secrets */
export function judgeCarrier(
  name: keyof typeof carriers,
  state: CarrierState,
  say: (reason: string) => string,
): Finding[] {
  const { service, variable, why } = carriers[name];
  const reason = state.kind === 'ready' ? '' : say(state.why);
  return table('messages', [
    ok(`messages.${name}`, state.kind === 'ready')`${service} answers and accepts the credentials of ${variable}.`,
    fault(`messages.${name}`, state.kind === 'refused')`${service} refuses the credentials of ${variable}: ${reason}
    Why: ${why}
    Do: Correct ${variable}, restart Foyer, and run \`foyer outbox retry --all-dead\` for what was given up.`,
    fault(
      `messages.${name}`,
      state.kind === 'no-sender',
    )`${service} cannot send from TWILIO_FROM or TWILIO_MESSAGING_SERVICE_SID: ${reason}
    Why: ${why}
    Do: Set one of them to a sender of this account (Twilio console, Phone Numbers), restart Foyer, and run \`foyer sms send --to\` your own number.`,
    fault(`messages.${name}`)`${service} cannot be reached by ${variable}: ${reason}
    Why: ${why}
    Do: Check host, port and TLS in ${variable}, and that this host may open that connection.`,
  ]);
}

interface BacklogFacts {
  /** Messages that were given up in the last 24 hours. */
  dead: number;
  /** Messages that have waited for longer than 15 minutes, and when the oldest was written. */
  late: number;
  oldestAt: number | null;
  nowMs: number;
}

/** The state of the outbox. */
export function judgeBacklog({ dead, late, oldestAt, nowMs }: BacklogFacts): Finding[] {
  const minutes = Math.floor((nowMs - (oldestAt ?? nowMs)) / 60_000);
  const age = minutes < 120 ? counted(minutes, 'minute') : counted(Math.floor(minutes / 60), 'hour');
  return table('messages', [
    ok('messages.dead', dead === 0)`No message was given up in the last 24 hours.`,
    warning('messages.dead')`${counted(dead, 'message')} ${dead === 1 ? 'was' : 'were'} given up in the last 24 hours.
    Why: They have not arrived: codes, notices, or sign-outs of client apps.
    Do: Read the reasons with \`foyer outbox list --state dead\`, mend the cause, and run \`foyer outbox retry --all-dead\`.`,
    ok('messages.waiting', late === 0)`No message has waited for longer than 15 minutes.`,
    warning(
      'messages.waiting',
    )`${counted(late, 'message')} ${late === 1 ? 'has' : 'have'} waited for longer than 15 minutes, the oldest for ${age}.
    Why: Codes are void after some minutes. Either no server runs, or a service does not accept messages.
    Do: Read the reasons with \`foyer outbox list --state waiting\`; Foyer tries again by itself.`,
  ]);
}

export const judgeSandboxMessages = (): Finding[] =>
  table('messages', [ok('messages.sandbox')`Mails and text messages stay in the sandbox’s mailbox.`]);

/** The records with which mailboxes judge a mail. */
interface SenderFacts {
  domain: string;
  /** The reason that no record can be read. */
  failed?: string;
  /** Number of SPF records. */
  spf: number;
  /** Those of DKIM keys. */
  selectors: string[];
  /** The name with the DMARC record. */
  dmarc: string | undefined;
}

export function judgeSender({ domain, failed, spf, selectors, dmarc }: SenderFacts): Finding[] {
  if (failed !== undefined) {
    return table('messages', [
      note('messages.dns')`The DNS records of ${domain} could not be looked up: ${failed}
    Why: SPF, DKIM and DMARC of MAIL_FROM are not looked at.
    Do: Run this where names can be resolved.`,
    ]);
  }
  const asSpam = 'Mailboxes take mails of a domain that proves nothing for spam: codes do not arrive.';
  return table('messages', [
    ok('messages.spf', spf === 1)`${domain} has an SPF record.`,
    warning('messages.spf', spf === 0)`${domain} has no SPF record.
    Why: ${asSpam}
    Do: Set the record that your mail service names for it (TXT of ${domain}, v=spf1 …).`,
    warning('messages.spf')`${domain} has ${spf} SPF records.
    Why: RFC 7208, section 4.5: more than one counts as an error.
    Do: Join them in one record.`,
    ok('messages.dkim', selectors.length > 0)`${domain} has a DKIM key (selector ${selectors.join(', ')}).`,
    note('messages.dkim')`No DKIM key of ${domain} was found under the usual selectors.
    Why: It may have another selector, which only your mail service knows. ${asSpam}
    Do: Run \`foyer mail send welcome --to\` your own address, and look for dkim=pass in the Authentication-Results header.`,
    ok('messages.dmarc', dmarc !== undefined)`${dmarc} has a DMARC record.`,
    warning('messages.dmarc')`${domain} has no DMARC record.
    Why: Large mail services ask for one (RFC 7489), and others can send mails in your name.
    Do: Set the record that your mail service names for it (TXT of _dmarc.${domain}, v=DMARC1; p=none at first).`,
  ]);
}

export const judgePlanFault = (text: string): Finding[] =>
  table('plans', [
    fault('plans.file')`PLANS_FILE: ${text}
    Why: Foyer does not start with this.
    Do: Correct the file as docs/plans.md describes it; config/plans.json is an example.`,
  ]);

/** A payment method that does not fit the currency of the catalogue. */
export const judgeMethodFault = (text: string): Finding[] =>
  table('plans', [
    fault('plans.methods')`${text}.
    Why: Foyer does not start with this.
    Do: Remove the method from PAYMENT_METHODS, or write eur as the currency of PLANS_FILE and run \`foyer plans sync\`.`,
  ]);

interface PlanFacts {
  /** Number of plans. */
  count: number;
  /** That of Stripe's keys; none: nothing is sold; unknown: unreadable, or the sandbox's stand-in. */
  mode: 'none' | 'unknown' | 'test' | 'live';
  production: boolean;
  graceDays: number;
  /** Whether the catalogue has a block `tax`. */
  taxed?: boolean;
  /** The settings that Stripe Tax lacks; undefined: it is not used, or does not answer. */
  missingTaxSettings?: string[] | undefined;
  /** The lookup keys of prices that differ from the catalogue. */
  differing?: string[];
  /** The reason that Stripe does not answer. */
  failed?: string;
}

/** The catalogue, and its prices at Stripe. */
export const judgePlans = ({
  count,
  mode,
  production,
  graceDays,
  taxed = false,
  missingTaxSettings,
  differing = [],
  failed,
}: PlanFacts): Finding[] =>
  table('plans', [
    ok('plans.file')`The catalogue has ${counted(count, 'plan')}.`,
    ok('plans.sold', mode === 'none')`STRIPE_SECRET_KEY is not set: no plans are sold, and members go on without one.`,
    warning('plans.mode', mode === 'test' && production)`STRIPE_SECRET_KEY is of test mode.
    Why: Everyone can have every plan with a test card, and no one is charged.
    Do: Write the keys of live mode, and run \`foyer plans sync\` with them.`,
    note('plans.mode', mode === 'live' && !production)`STRIPE_SECRET_KEY is of live mode, though this is no production.
    Why: Each purchase that tries something out charges a real card.
    Do: Write the keys of test mode.`,
    ok('plans.mode', mode === 'test' || mode === 'live')`Stripe’s keys are of ${mode} mode.`,
    ok('plans.grace', mode === 'test' || mode === 'live')`
    graceDays is ${graceDays}: choose retries at Stripe that end within ${graceDays} days. Smart Retries’ default needs 14.`,
    note('plans.limits', mode === 'live' && !taxed)`Plans are sold without VAT, and with gaps for consumers in the EU.
    Why: No tax is computed or shown. Withdrawal, and yearly plans that can end after their first year, need the block consumers of PLANS_FILE.
    Do: Read the limits in docs/plans.md, and ask your counsel whether you may sell with them.`,
    note('plans.limits', mode === 'live' && taxed)`Plans are sold with gaps for consumers in the EU.
    Why: Withdrawal, and yearly plans that can end after their first year, need the block consumers of PLANS_FILE.
    Do: Read the limits in docs/plans.md, and ask your counsel whether you may sell with them.`,
    ok('plans.tax', missingTaxSettings?.length === 0)`Stripe Tax is active.`,
    fault('plans.tax', (missingTaxSettings ?? []).length > 0)`
    Stripe Tax is not active: it lacks ${(missingTaxSettings ?? []).join(', ')}.
    Why: PLANS_FILE asks for tax, and nothing is sold without it.
    Do: Complete the tax settings in Stripe’s dashboard, in the mode of STRIPE_SECRET_KEY.`,
    fault('plans.stripe', failed !== undefined)`Stripe does not answer: ${failed}
    Why: No one can buy a plan or change one; members who have one keep it.
    Do: Check STRIPE_SECRET_KEY, that this host may call the address, and https://status.stripe.com.`,
    fault('plans.prices', differing.length > 0)`
    ${counted(differing.length, 'price')} at Stripe not as the catalogue says: ${differing.join(', ')}.
    Why: What is not there cannot be bought, and what differs costs something else than the pages say.
    Do: Run \`foyer plans check\`, which says how they differ, and \`foyer plans sync\`.`,
    ok('plans.prices', failed === undefined && (mode === 'test' || mode === 'live'))`
    Products and prices at Stripe are as the catalogue says.`,
  ]);

export const judgeProviderFault = (text: string): Finding[] =>
  table('providers', [
    fault('providers.file')`PROVIDERS_FILE: ${text}
    Why: Foyer does not start with this.
    Do: Correct the file as docs/providers.md describes it.`,
  ]);

export function judgeProviders(reports: readonly Omit<ProviderReport, 'unseen'>[]): Finding[] {
  if (reports.length === 0) {
    return table('providers', [ok('providers.none')`No provider is configured: members sign in by themselves.`]);
  }
  return reports.flatMap(({ id, faults, warnings }) => [
    ...faults.flatMap((text) =>
      table('providers', [
        fault('providers.provider')`${id}: ${text}.
    Why: Members who sign in by it cannot get in.
    Do: Mend it here or there, and run \`foyer provider check ${id}\`; docs/providers.md says what to register.`,
      ]),
    ),
    ...warnings.flatMap((text) =>
      table('providers', [
        warning('providers.provider')`${id}: ${text}.
    Why: One day members who sign in by it may not get in.
    Do: See docs/providers.md, and run \`foyer provider check ${id}\` afterwards.`,
      ]),
    ),
    ...table('providers', [
      ok('providers.provider', faults.length + warnings.length === 0)`${id} is as the configuration says.`,
    ]),
  ]);
}
