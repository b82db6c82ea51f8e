import { createBanner } from '../../../sandbox/views/banner.tsx';
import { BillingPage } from '../../../sandbox/views/billing-page.tsx';
import { DemoAppPage } from '../../../sandbox/views/demo-app-page.tsx';
import { MailboxPage } from '../../../sandbox/views/mailbox-page.tsx';
import { MailsPage } from '../../../sandbox/views/mails-page.tsx';
import { MessagePage } from '../../../sandbox/views/message-page.tsx';
import { PartsPage } from '../../../sandbox/views/parts-page.tsx';
import { ProvidersPage } from '../../../sandbox/views/providers-page.tsx';
import { StandInAppPage } from '../../../sandbox/views/stand-in-app-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

const sub = '0198a2c4-7b1e-7c3a-9f52-6d1f0e8b4a77';

/** The pages of the sandbox and of the demo app. */
export function sandboxSamples(ctx: PageContext): Record<string, Sample> {
  const banner = createBanner({ places: { mailbox: '/sandbox/mailbox' }, overview: '/sandbox' })(ctx);
  const sandbox: PageContext = { ...ctx, banner };
  const signedIn: PageContext = { member, ...sandbox };
  const mailbox = { ctx: sandbox, address: '/a', templatesHref: '/b' };
  const message = {
    id: 'a',
    channel: 'mail',
    to: member.email,
    from: 'Foyer <no-reply@example.com>',
    subject: 'Your code',
    code: '493027',
    text: 'Hello,\n\n493027',
    atMs: 1767225600000,
  } as const;
  const customer = {
    id: 'cus_NffrFeUfNV2Hib',
    email: member.email,
    name: null,
    methods: [
      { id: 'pm_1', brand: 'visa', last4: '4242', isDebit: false },
      { id: 'pm_2', brand: 'sepa_debit', last4: '3000', isDebit: true },
    ],
    subscriptions: [
      {
        id: 'sub_1',
        status: 'trialing',
        price: 'm-99',
        cents: 9_900,
        currency: 'usd',
        untilMs: 1767225600000,
        endsThen: true,
      },
    ],
    invoices: [
      {
        id: 'in_1',
        number: 'ABCD-0001',
        status: 'paid',
        cents: 9_900,
        currency: 'usd',
        atMs: 1767225600000,
        address: 'http://127.0.0.1:3001/stand-in/invoices/in_1',
        refundable: true,
      },
      {
        id: 'in_2',
        number: null,
        status: 'draft',
        cents: 0,
        currency: 'usd',
        atMs: 1767225600000,
        address: null,
        refundable: false,
      },
    ],
  };
  return {
    'stand-in-search': { page: <StandInAppPage ctx={signedIn} app="search" /> },
    'stand-in-search-visitor': { page: <StandInAppPage ctx={sandbox} app="search" /> },
    'stand-in-main': { page: <StandInAppPage ctx={signedIn} app="main" /> },
    'stand-in-account': { page: <StandInAppPage ctx={signedIn} app="account" /> },
    'providers-of-the-sandbox': {
      page: (
        <ProvidersPage
          ctx={sandbox}
          standard={[{ name: 'Google', mark: undefined }]}
          companies={[{ kind: 'saml', name: 'Acme', domain: 'acme.example', href: 'http://127.0.0.1:3001/saml' }]}
        />
      ),
    },
    parts: { page: <PartsPage ctx={signedIn} /> },
    mailbox: { page: <MailboxPage {...mailbox} messages={[message, { ...message, id: 'b', subject: undefined }]} /> },
    'mailbox-empty': { page: <MailboxPage {...mailbox} messages={[]} /> },
    'mailbox-filtered': { page: <MailboxPage {...mailbox} messages={[]} to="unknown@example.com" /> },
    message: {
      page: <MessagePage ctx={sandbox} message={message} htmlAddress="/a/html" mailboxHref="/a" />,
      frames: true,
    },
    'message-sms': {
      page: <MessagePage ctx={sandbox} message={{ ...message, channel: 'sms', subject: undefined }} mailboxHref="/a" />,
    },
    mails: {
      frames: true,
      page: (
        <MailsPage
          ctx={sandbox}
          mailLang="fr"
          mails={[{ template: 'welcome', subject: 'Bienvenue', text: 'Bonjour', htmlAddress: '/b/welcome' }]}
          address="/b"
          mailboxHref="/a"
        />
      ),
    },
    billing: {
      page: (
        <BillingPage
          ctx={sandbox}
          address="/sandbox/billing"
          state={{
            nowMs: 1767225600000,
            movedMs: 7 * 86_400_000,
            promotionCodes: [
              { code: 'HALF', name: 'Half price', valid: true },
              { code: 'GONE', name: null, valid: false },
            ],
            customers: [
              customer,
              { ...customer, id: 'cus_2', email: null, methods: [], subscriptions: [], invoices: [] },
            ],
          }}
          fault="This invoice is not paid."
        />
      ),
    },
    'billing-empty': {
      page: (
        <BillingPage
          ctx={sandbox}
          address="/sandbox/billing"
          state={{ nowMs: 1767225600000, movedMs: 0, promotionCodes: [], customers: [] }}
        />
      ),
    },
    'billing-away': { page: <BillingPage ctx={sandbox} address="/sandbox/billing" state={undefined} /> },
    demo: { page: <DemoAppPage ctx={sandbox} state={{ kind: 'signed-out', signInHref: '/start' }} /> },
    'demo-error': {
      page: <DemoAppPage ctx={sandbox} state={{ kind: 'signed-out', signInHref: '/start', error: 'access_denied' }} />,
    },
    'demo-signed-in': {
      page: (
        <DemoAppPage
          ctx={sandbox}
          state={{
            kind: 'signed-in',
            idToken: {
              iss: 'http://localhost:3000',
              sub,
              aud: 'demo',
              exp: 1767225600,
              nonce: 'n-0S6_WzA2Mj',
              amr: ['pwd'],
            },
            userinfo: { sub, email: member.email, email_verified: true, name: member.name },
            accessToken: { maskedValue: 'fat_8sK…c2Qp', expiresAt: 1767225600000 },
            refreshToken: { maskedValue: 'frt_Zm4…0aXe' },
            refreshAction: '/refresh',
            signOutAction: '/sign-out',
          }}
        />
      ),
    },
    'demo-signed-in-plain': {
      page: (
        <DemoAppPage
          ctx={sandbox}
          state={{
            kind: 'signed-in',
            idToken: { sub },
            userinfo: { sub },
            accessToken: { maskedValue: 'fat_8sK…c2Qp', expiresAt: 1767225600000 },
            refreshAction: '/refresh',
            signOutAction: '/sign-out',
          }}
        />
      ),
    },
  };
}
