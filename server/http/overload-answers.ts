/** The answers to requests that this process has no capacity for, each made once (docs/decisions/0030-overload.md). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createElement } from 'react';
import { ErrorPage } from '../../views/errors/error-page.tsx';
import { errorTexts, passwordsBusyText } from '../../views/errors/error-texts.ts';
import type { HostCookies } from './cookies.ts';
import { createLanguageDetector, type Language, languages, type T, translator } from './language.ts';
import { languageCookie } from './language-form.ts';
import type { Pages } from './pages.ts';
import { problems, problemType } from './problems.ts';
import { asksForPart } from './request-traits.ts';

/** Each sends the whole answer: nothing is read from the request but its head, and nothing is stored. */
export interface OverloadAnswers {
  /** 503: too many requests. */
  refuseRequest(req: IncomingMessage, res: ServerResponse): void;
  /** Too many passwords wait to be hashed: the configured status. */
  refusePassword(req: IncomingMessage, res: ServerResponse): void;
}

interface AnswerSettings {
  pages: Pick<Pages, 'renderPublic'>;
  cookies: HostCookies;
  /** The headers of every answer. */
  headers: Map<string, string>;
  /** The answer while too many passwords wait: 503 or 429. */
  passwords: { status: number; retrySeconds: number };
}

interface Body {
  type: string;
  bytes: Buffer;
  policy?: string;
}

/** The words of a page. */
interface PageTexts {
  status: number;
  title: string;
  message: string;
  action?: { href: string; label: string };
}

const json = (type: string, value: object): Body => ({ type, bytes: Buffer.from(JSON.stringify(value)) });

const problemBody = (kind: 'busy' | 'tooMany', retryAfter?: number): Body => {
  const { status, title, detail } = problems[kind];
  const more = retryAfter === undefined ? {} : { retryAfter };
  return json('application/problem+json', { type: problemType(kind), title, status, detail, ...more });
};

const requestTexts =
  (isForm: boolean) =>
  (t: T): PageTexts => {
    const { title, message } = errorTexts(t, 'busy');
    const { status } = problems.busy;
    if (isForm) return { status, title, message: t('errors.busy.form') };
    return { status, title, message, action: { href: '', label: t('errors.tryAgain') } };
  };

/** The link leads to the form by GET: it has the address of the form's own page. */
const passwordTexts =
  ({ status, retrySeconds }: AnswerSettings['passwords']) =>
  (t: T): PageTexts => {
    const message = passwordsBusyText(t, retrySeconds);
    const action = { href: '', label: t('errors.busy.back') };
    return { status, title: t('errors.busy.title'), message, action };
  };

/** A page and a part of it, once for each language. */
function createBodies(pages: AnswerSettings['pages'], toTexts: (t: T) => PageTexts) {
  const prepared = new Map<string, Body>();
  const once = (key: string, make: () => Body): Body => {
    const known = prepared.get(key) ?? make();
    prepared.set(key, known);
    return known;
  };
  return {
    page: (lang: Language) =>
      once(`page ${lang}`, () => {
        const texts = toTexts(translator(lang));
        const { html, policy } = pages.renderPublic(
          (ctx) => createElement(ErrorPage, { ctx, ...texts }),
          { title: texts.title },
          lang,
        );
        return { type: 'text/html; charset=utf-8', bytes: Buffer.from(html), policy };
      }),
    part: (lang: Language) =>
      once(`part ${lang}`, () => {
        const { title, message } = toTexts(translator(lang));
        const html = `<div data-problem=""><strong>${title}</strong> ${message}</div>`;
        return { type: 'text/html; charset=utf-8', bytes: Buffer.from(html) };
      }),
  };
}

/** Different waits, so that those who were refused together do not return together. */
const retrySeconds = () => 2 + Math.floor(Math.random() * 5);

export function createOverloadAnswers({ pages, cookies, headers, passwords }: AnswerSettings): OverloadAnswers {
  const findLanguage = createLanguageDetector<IncomingMessage>({
    cookie: { name: languageCookie, read: (req) => cookies.read(req, languageCookie) },
  });
  const bodies = {
    visit: createBodies(pages, requestTexts(false)),
    form: createBodies(pages, requestTexts(true)),
    password: createBodies(pages, passwordTexts(passwords)),
  };
  const busy = problemBody('busy');
  const passwordProblem = problemBody(
    passwords.status === problems.tooMany.status ? 'tooMany' : 'busy',
    passwords.retrySeconds,
  );
  const { detail } = problems.busy;
  const oauth = json('application/json', { error: 'temporarily_unavailable', error_description: detail });
  // The first refusal must not render: the process is busy by then.
  for (const lang of languages) bodies.password.page(lang);

  const wantsPage = ({ headers: { accept } }: IncomingMessage) => accept?.includes('text/html') === true;

  function toRequestBody(req: IncomingMessage): Body {
    if (req.url?.startsWith('/oauth2/') && !wantsPage(req)) return oauth;
    if (asksForPart(req)) return bodies.visit.part(findLanguage(req));
    if (!wantsPage(req)) return busy;
    return (req.method === 'POST' ? bodies.form : bodies.visit).page(findLanguage(req));
  }

  function toPasswordBody(req: IncomingMessage): Body {
    if (asksForPart(req)) return bodies.password.part(findLanguage(req));
    return wantsPage(req) ? bodies.password.page(findLanguage(req)) : passwordProblem;
  }

  function send(res: ServerResponse, { type, bytes, policy }: Body, [status, seconds]: [number, number]): void {
    res.setHeaders(headers);
    res.writeHead(status, {
      'Content-Type': type,
      'Content-Length': bytes.length,
      'Retry-After': String(seconds),
      ...(policy !== undefined && { 'Content-Security-Policy': policy, Vary: 'Accept-Language' }),
    });
    res.end(bytes);
  }

  return {
    refuseRequest: (req, res) => send(res, toRequestBody(req), [problems.busy.status, retrySeconds()]),
    refusePassword: (req, res) => send(res, toPasswordBody(req), [passwords.status, passwords.retrySeconds]),
  };
}
