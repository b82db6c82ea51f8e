import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import {
  HttpError,
  type Language,
  languages,
  methodNotAllowed,
  type Pages,
  readQueryParam,
} from '../server/http/index.ts';
import { type MailLook, type MailTemplate, mailTemplates, renderMail, sampleMail } from '../server/messages/index.ts';
import type { Sessions } from '../server/sessions/index.ts';
import type { SandboxMailbox, StoredMessage } from './mailbox.ts';
import { textsFor } from './texts.ts';
import { MailboxPage } from './views/mailbox-page.tsx';
import { MailsPage } from './views/mails-page.tsx';
import { MessagePage } from './views/message-page.tsx';

export const mailboxAddress = '/sandbox/mailbox';
export const templatesAddress = '/sandbox/mails';

export interface MailRoutesDeps {
  pages: Pages;
  sessions: Sessions;
  mailbox: SandboxMailbox;
  look: MailLook;
}

/**
 * Mails have inline styles, which no page may have. They get a separate document without scripts, loads and forms; its
 * sandbox also gives it another origin.
 */
const mailPolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "base-uri 'none'",
  'sandbox allow-popups allow-popups-to-escape-sandbox',
].join('; ');

function sendMailDocument(res: Response, html: string): void {
  res.setHeader('Content-Security-Policy', mailPolicy);
  // The same as frame-ancestors, for browsers that only support this header.
  res.setHeader('X-Frame-Options', 'SAMEORIGIN');
  res.type('html').send(html);
}

const inFrames = { policy: { frames: true } };

/** The messages that the sandbox stored instead of sending them. */
function mailboxRoutes(router: Router, { pages, sessions, mailbox }: MailRoutesDeps): void {
  async function findMessage(req: Request<{ id: string }>): Promise<StoredMessage> {
    const message = await mailbox.find(req.params.id);
    if (message === undefined) throw new HttpError('notFound');
    return message;
  }
  router
    .route(mailboxAddress)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      const to = readQueryParam(req, 'to')?.trim() || undefined;
      const messages = await mailbox.list({ to });
      const props = { messages, to, address: mailboxAddress, templatesHref: templatesAddress };
      pages.send({ req, res }, (ctx) => createElement(MailboxPage, { ctx, ...props }), {
        title: (ctx) => textsFor(ctx)('sandbox.mailboxPage.title'),
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${mailboxAddress}/:id`)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      const message = await findMessage(req);
      const htmlAddress = message.html === undefined ? undefined : `${mailboxAddress}/${message.id}/html`;
      const props = { message, htmlAddress, mailboxHref: mailboxAddress };
      pages.send({ req, res }, (ctx) => createElement(MessagePage, { ctx, ...props }), {
        title: (ctx) => message.subject ?? textsFor(ctx)('sandbox.mailboxPage.sms'),
        ...inFrames,
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${mailboxAddress}/:id/html`)
    .get(async (req, res) => {
      const { html } = await findMessage(req);
      if (html === undefined) throw new HttpError('notFound');
      sendMailDocument(res, html);
    })
    .all(methodNotAllowed('GET', 'HEAD'));
}

/** Every template with sample values. */
function templateRoutes(router: Router, { pages, sessions, look }: MailRoutesDeps): void {
  const readMailLanguage = (req: Request, fallback: Language) =>
    languages.find((lang) => lang === readQueryParam(req, 'mails')) ?? fallback;
  router
    .route(templatesAddress)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      const mailLang = readMailLanguage(req, pages.context(req, res).lang);
      const mails = mailTemplates.map((template) => ({
        template,
        ...renderMail(sampleMail(template, mailLang), look),
        htmlAddress: `${templatesAddress}/${template}?mails=${mailLang}`,
      }));
      const props = { mailLang, mails, address: templatesAddress, mailboxHref: mailboxAddress };
      pages.send({ req, res }, (ctx) => createElement(MailsPage, { ctx, ...props }), {
        title: (ctx) => textsFor(ctx)('sandbox.mailsPage.title'),
        ...inFrames,
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${templatesAddress}/:template`)
    .get((req, res) => {
      const template = mailTemplates.find((name): name is MailTemplate => name === req.params.template);
      if (template === undefined) throw new HttpError('notFound');
      sendMailDocument(res, renderMail(sampleMail(template, readMailLanguage(req, 'en')), look).html);
    })
    .all(methodNotAllowed('GET', 'HEAD'));
}

export function mailRoutes(router: Router, deps: MailRoutesDeps): void {
  mailboxRoutes(router, deps);
  templateRoutes(router, deps);
}
