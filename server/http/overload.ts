/** Refuses requests while this process has more to do than it can (docs/decisions/0030-overload.md). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createElement } from 'react';
import { ErrorPage } from '../../views/errors/error-page.tsx';
import { errorTexts } from '../../views/errors/error-texts.ts';
import { minuteMs } from '../shared/index.ts';
import type { HostCookies } from './cookies.ts';
import type { AdmissionGate, Load } from './direct-dispatcher.ts';
import { createLanguageDetector, type Language, translator } from './language.ts';
import { languageCookie } from './language-form.ts';
import type { Logger } from './log.ts';
import type { Pages } from './pages.ts';
import { problems, problemType } from './problems.ts';
import { ipBucket } from './rate-limits/consume.ts';
import { asksForPart } from './request-traits.ts';

/** `begun`: it finishes something that has begun or was paid; `member`: of a browser in which a user has signed in. */
export type Importance = 'visit' | 'member' | 'begun';

type RefusalReason = 'requests' | 'delay';

interface OverloadLimits {
  /** Requests in progress. */
  requests: number;
  /** Length of a turn of the event loop from which on visits are refused. */
  turnMs: number;
}

/** The part of the requests, and the multiple of the turn, up to which each importance is admitted. */
const shares: Readonly<Record<Importance, { requests: number; turns: number }>> = {
  visit: { requests: 0.6, turns: 1 },
  member: { requests: 0.85, turns: 2 },
  begun: { requests: 1, turns: 4 },
};

/** One long turn alone may be a loaded module, or a machine that was busy elsewhere. */
const singleTurn = 4;
/** With fewer requests a long turn is no overload by requests, and refusing them would not shorten it. */
const minRequests = 20;

/** The rule: what is refused at this load, and why. Undefined: the request is admitted. */
export function findRefusal(importance: Importance, load: Load, limits: OverloadLimits): RefusalReason | undefined {
  const share = shares[importance];
  if (load.inProgress >= limits.requests * share.requests) return 'requests';
  if (Math.max(load.inProgress, load.admittedInTurn) < minRequests) return undefined;
  const longest = limits.turnMs * share.turns * (load.isLasting ? 1 : singleTurn);
  return load.turnMs >= longest ? 'delay' : undefined;
}

/** Requests that may be preferred each second: of one browser, of one address, and of all addresses together. */
const preferred = { browser: 10, address: 50, addresses: 200 } as const;
const maxShares = 10_000;

/**
 * Counts preferred requests, so that neither one cookie sent a thousand times nor calls without proof displace others.
 * They are counted in this process, because a shared counter would cost more than most requests.
 */
export function preferredShares(now: () => number) {
  const counts = new Map<string, number>();
  let second = Number.NaN;
  return {
    /** @returns whether one more request of this holder is preferred */
    take(holder: string, max: number): boolean {
      const current = Math.floor(now() / 1_000);
      if (current !== second) counts.clear();
      second = current;
      const count = counts.get(holder) ?? 0;
      if (count >= max || (count === 0 && counts.size >= maxShares)) return false;
      counts.set(holder, count + 1);
      return true;
    },
  };
}

/** Calls that finish what has begun, though their proof is too costly to verify here. */
const finishing =
  /^(?:POST \/oauth2\/token|(?:GET|POST) \/oauth2\/userInfo|POST \/webhooks\/stripe|(?:GET|POST) \/federation\/[^/?]+\/callback)(?:\?|$)/;

interface OverloadSettings {
  limits: OverloadLimits;
  pages: Pick<Pages, 'renderPublic'>;
  cookies: HostCookies;
  sessionCookie: string;
  /** The id of a browser in which a user has signed in, by a signed cookie. */
  findReturning(req: IncomingMessage): string | undefined;
  getAddress(req: IncomingMessage): string;
  /** The headers of every answer. */
  headers: Map<string, string>;
  metrics: { requestRefused(importance: Importance, reason: RefusalReason): void };
  log: Pick<Logger, 'warn'>;
  now?: () => number;
}

type ImportanceSettings = Pick<OverloadSettings, 'cookies' | 'sessionCookie' | 'findReturning' | 'getAddress'>;

function importanceBy(
  { cookies, sessionCookie, findReturning, getAddress }: ImportanceSettings,
  now: () => number,
): (req: IncomingMessage) => Importance {
  const { take } = preferredShares(now);
  return (req) => {
    const browser = findReturning(req);
    if (browser !== undefined && take(`browser ${browser}`, preferred.browser))
      return req.method === 'POST' && cookies.read(req, sessionCookie) !== undefined ? 'begun' : 'member';
    const isFinishing = finishing.test(`${req.method} ${req.url}`);
    if (!isFinishing || !take(`address ${ipBucket(getAddress(req))}`, preferred.address)) return 'visit';
    return take('addresses', preferred.addresses) ? 'begun' : 'visit';
  };
}

interface Refusal {
  type: string;
  body: Buffer;
  policy?: string;
}

const json = (type: string, value: object): Refusal => ({ type, body: Buffer.from(JSON.stringify(value)) });

/** The answers, each made once: by then a refusal costs less than a tenth of the cheapest page. */
function refusals({ pages, cookies }: Pick<OverloadSettings, 'pages' | 'cookies'>): (req: IncomingMessage) => Refusal {
  const { status, title, detail } = problems.busy;
  const problem = json('application/problem+json', { type: problemType('busy'), title, status, detail });
  const oauth = json('application/json', { error: 'temporarily_unavailable', error_description: detail });
  const findLanguage = createLanguageDetector<IncomingMessage>({
    cookie: { name: languageCookie, read: (req) => cookies.read(req, languageCookie) },
  });
  const prepared = new Map<string, Refusal>();

  function makePage(lang: Language, isForm: boolean): Refusal {
    const t = translator(lang);
    const { title: heading, message: usual } = errorTexts(t, 'busy');
    const message = isForm ? t('errors.busy.form') : usual;
    const action = isForm ? {} : { action: { href: '', label: t('errors.tryAgain') } };
    const { html, policy } = pages.renderPublic(
      (ctx) => createElement(ErrorPage, { ctx, status, title: heading, message, ...action }),
      { title: heading },
      lang,
    );
    return { type: 'text/html; charset=utf-8', body: Buffer.from(html), policy };
  }

  function makePart(lang: Language): Refusal {
    const { title: heading, message } = errorTexts(translator(lang), 'busy');
    const html = `<div data-problem=""><strong>${heading}</strong> ${message}</div>`;
    return { type: 'text/html; charset=utf-8', body: Buffer.from(html) };
  }

  return (req) => {
    if (req.url?.startsWith('/oauth2/') && req.headers.accept?.includes('text/html') !== true) return oauth;
    if (asksForPart(req)) return once(`part ${findLanguage(req)}`, () => makePart(findLanguage(req)));
    if (req.headers.accept?.includes('text/html') !== true) return problem;
    const isForm = req.method === 'POST';
    const lang = findLanguage(req);
    return once(`${lang} ${isForm}`, () => makePage(lang, isForm));
  };

  function once(key: string, make: () => Refusal): Refusal {
    const known = prepared.get(key) ?? make();
    prepared.set(key, known);
    return known;
  }
}

/** Different waits, so that those who were refused together do not return together. */
const retrySeconds = () => 2 + Math.floor(Math.random() * 5);

/** One line a minute: a line for each refusal would be the next overload. */
function reporter(log: OverloadSettings['log'], now: () => number) {
  let refused = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  return ({ inProgress, turnMs }: Load, reason: RefusalReason) => {
    refused += 1;
    const nowMs = now();
    if (nowMs < nextMs) return;
    log.warn(
      { act: 'overload', refused, reason, inProgress, turnMs: Math.round(turnMs) },
      'more requests than this process can serve: some were refused',
    );
    refused = 0;
    nextMs = nowMs + minuteMs;
  };
}

export function createAdmissionGate(settings: OverloadSettings): AdmissionGate {
  const { limits, headers, metrics, log, now = () => performance.now() } = settings;
  const toImportance = importanceBy(settings, now);
  const toAnswer = refusals(settings);
  const report = reporter(log, now);
  return {
    calm: { inProgress: limits.requests * shares.visit.requests, turnMs: limits.turnMs },
    refuses(req: IncomingMessage, res: ServerResponse, load: Load) {
      // Most are not refused even as visits; their cookies are not read.
      if (findRefusal('visit', load, limits) === undefined) return false;
      const importance = toImportance(req);
      const reason = findRefusal(importance, load, limits);
      if (reason === undefined) return false;
      metrics.requestRefused(importance, reason);
      report(load, reason);
      const { type, body, policy } = toAnswer(req);
      res.setHeaders(headers);
      res.writeHead(503, {
        'Content-Type': type,
        'Content-Length': body.length,
        'Retry-After': String(retrySeconds()),
        ...(policy !== undefined && { 'Content-Security-Policy': policy, Vary: 'Accept-Language' }),
      });
      res.end(body);
      return true;
    },
  };
}
