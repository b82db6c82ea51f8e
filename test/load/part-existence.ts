import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, median, separation } from './figures.ts';
import { ownForm } from './generator/browsing.ts';
import type { Ask, ExistenceProbe, Timed, Watch } from './generator/existence.ts';
import { type Child, startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { SmtpSink } from './servers/smtp.ts';
import { client, publicUrl } from './setting.ts';
import type { Stores } from './stores.ts';

/** A service may send 60 mails a minute. */
const mailsOfOneService = 40;
/** The waiting time between two codes of a flow, and a little more. */
const resendWaitMs = 31_000;

interface Subject {
  email: string;
  isMember: boolean;
}

type Probe = Child<ExistenceProbe>;
/** The request for each address, and the requests that must come before it. */
type Prepare = (probe: Probe, emails: string[], foyer: Child<FoyerServer>) => Promise<Ask[]>;

function form(path: string, fields: Record<string, string>, status: number, cookie = ''): Ask {
  const headers = cookie === '' ? ownForm : { ...ownForm, cookie };
  return { method: 'POST', path, headers, body: new URLSearchParams(fields).toString(), status };
}

const call = (path: string, body: object, headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
  status: 200,
});

const signUpBy = (email: string) => ({ given_name: 'Ida', family_name: 'Sommer', email, password: 'open sesame 7' });

/** Each place, by page and by call if both exist. */
const places: Record<string, { prepare: Prepare; imported?: boolean }> = {
  'forgot-page': {
    prepare: async (_probe, emails) => emails.map((username) => form('/forgot-password', { username }, 303)),
  },
  'forgot-call': {
    prepare: async (_probe, emails) => emails.map((username) => call('/identity/forgotPassword', { username })),
  },
  'hint-page': {
    imported: true,
    prepare: async (_probe, emails) =>
      emails.map((username) => form('/sign-in', { username, password: 'not my password 1' }, 400)),
  },
  'resend-page': {
    async prepare(probe, emails) {
      const asks = emails.map((username) => form('/forgot-password', { username }, 303));
      const begun = await probe.send({ asks });
      await sleep(resendWaitMs);
      return begun.map(({ location, cookies }) => form(location, { act: 'resend' }, 303, cookies));
    },
  },
  'resend-sign-up-page': {
    async prepare(probe, emails) {
      const asks = emails.map((email) => form('/signup', { ...signUpBy(email), terms: '1' }, 303));
      const begun = await probe.send({ asks });
      await sleep(resendWaitMs);
      return begun.map(({ location, cookies }) => form(location, { act: 'resend' }, 303, cookies));
    },
  },
  'resend-sign-up-call': {
    async prepare(probe, emails) {
      const begun = await probe.send({ asks: emails.map((email) => call('/identity/signUp', signUpBy(email))) });
      await sleep(resendWaitMs);
      return begun.map(({ text }) => call('/identity/resendConfirmationCode', { flow: JSON.parse(text).flow }));
    },
  },
  'sent-email-call': {
    async prepare(probe, emails, foyer) {
      const ids = emails.flatMap((_, n) =>
        n % mailsOfOneService === 0 ? [`service-${emails[n]?.split('@')[0]}`] : [],
      );
      await foyer.addServices({ ids, scope: 'messages:send' });
      const asks = ids.map((id) => tokenOf(id));
      const tokens = (await probe.send({ asks })).map(({ text }): string => JSON.parse(text).access_token);
      return emails.map((emailAddress, n) => {
        const authorization = `Bearer ${tokens[Math.floor(n / mailsOfOneService)]}`;
        return call('/sentEmail', { emailAddress, action: 'welcome' }, { authorization });
      });
    },
  },
};

function tokenOf(id: string): Ask {
  const basic = Buffer.from(`${id}:${encodeURIComponent(client.secret)}`).toString('base64');
  return {
    method: 'POST',
    path: '/oauth2/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${basic}` },
    body: 'grant_type=client_credentials&scope=messages:send',
    status: 200,
  };
}

let addresses = 0;
/** Users and strangers in equal numbers and random order, with similar addresses. */
function subjects(tries: number): Subject[] {
  const all = Array.from({ length: 2 * tries }, (_, n) => ({ isMember: n < tries, at: Math.random() }));
  all.sort((one, other) => one.at - other.at);
  return all.map(({ isMember }) => {
    addresses += 1;
    return { isMember, email: `p${String(addresses).padStart(6, '0')}@example.com` };
  });
}

const measures: [keyof Timed, string][] = [
  ['ownMs', 'own time'],
  ['slowestMs', 'slowest /healthz'],
  ['sumMs', 'all of /healthz'],
];

function figuresOf(place: string, timed: Timed[], who: Subject[]): Figure[] {
  return measures.map(([name, what]) => {
    const of = (isMember: boolean) => timed.filter((_, n) => who[n]?.isMember === isMember).map((each) => each[name]);
    const [members, strangers] = [of(true), of(false)];
    const { auc, from, to } = separation(members, strangers);
    // An attacker reads the difference in either direction.
    const value = Math.max(auc, 1 - auc);
    const shown = `members ${median(members).toFixed(2)} ms, strangers ${median(strangers).toFixed(2)} ms`;
    const detail = `AUC ${auc.toFixed(3)} (95 %: ${from.toFixed(3)} to ${to.toFixed(3)}); ${shown}; ${members.length} + ${strangers.length}`;
    return { what: `${place}: ${what}`, value, unit: 'ratio', aim: { below: 0.55 }, detail };
  });
}

/** Warms the code up, so that the figures contain no compilation. */
async function warmUp(probe: Probe, foyer: Child<FoyerServer>, { prepare, imported = false }: (typeof places)[string]) {
  const who = subjects(15);
  await foyer.addNamed({ emails: who.filter(({ isMember }) => isMember).map(({ email }) => email), imported });
  const emails = who.map(({ email }) => email);
  await probe.send({ asks: await prepare(probe, emails, foyer) });
  await sleep(3_000);
}

const rightAfter: Watch = { looks: 8, ms: 0, pauseMs: 0 };
/** Waits until every mail has left. */
const wholeWindow: Watch = { looks: 8, ms: 2_600, pauseMs: 3 };

/**
 * Measures whether the time of an answer, or the work after it, distinguishes users from strangers: it sends requests for
 * both in random order, each address once, to one process that delivers its mails to a mail server on this machine.
 * @param settings.window watches for as long as mails may leave, not only right after the answer
 */
export async function measureExistence(
  { environment }: Stores,
  settings: { tries: number; places: string[] | undefined; window: boolean },
): Promise<Figure[]> {
  const { tries, window } = settings;
  const smtp = startChild<SmtpSink>('servers/smtp.ts');
  const { port: mailPort } = await smtp.start();
  const limits = { SIGN_UP_LIMIT_ADDRESS: '1000000', SIGN_UP_LIMIT_OVERALL: '100000000' };
  const foyer = startChild<FoyerServer>('servers/foyer.ts', {
    ...environment,
    ...limits,
    PREVENT_USER_EXISTENCE_ERRORS: 'true',
    SMTP_URL: `smtp://127.0.0.1:${mailPort}?requireTLS=false`,
    PUBLIC_URL: publicUrl,
  });
  const probe = startChild<ExistenceProbe>('generator/existence.ts');
  try {
    const { port } = await foyer.start({ members: 1 });
    await foyer.deliver();
    await probe.open({ port });
    const figures: Figure[] = [];
    for (const name of settings.places ?? Object.keys(places)) {
      const place = places[name];
      if (!place) throw new Error(`--places: there is no "${name}"`);
      await warmUp(probe, foyer, place);
      const who = subjects(tries);
      const members = who.filter(({ isMember }) => isMember).map(({ email }) => email);
      await foyer.addNamed({ emails: members, imported: place.imported ?? false });
      const emails = who.map(({ email }) => email);
      const asks = await place.prepare(probe, emails, foyer);
      await sleep(3_000);
      const timed = await probe.probe({ asks, watch: window ? wholeWindow : rightAfter });
      figures.push(...figuresOf(name, timed, who));
    }
    return figures;
  } finally {
    await Promise.all([probe.stop(), foyer.stop(), smtp.stop()]);
  }
}
