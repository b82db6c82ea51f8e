import type { PageRule } from '../server/http/index.ts';

/** The rule of access of each page of the sandbox: only in development, only from this machine. */
export const sandboxAccess: Readonly<Record<string, PageRule>> = {
  'GET /sandbox': 'visitor',
  'GET /sandbox/help': 'visitor',
  'GET /sandbox/privacy': 'visitor',
  'GET /sandbox/providers': 'visitor',
  'GET /sandbox/search': 'visitor',
  'GET /sandbox/main': 'visitor',
  'GET /sandbox/account': 'visitor',
  'GET /sandbox/parts': 'visitor',
  'POST /sandbox/parts': 'visitor',
  'GET /sandbox/mailbox': 'visitor',
  'GET /sandbox/mailbox/:id': 'visitor',
  'GET /sandbox/mailbox/:id/html': 'visitor',
  'GET /sandbox/mails': 'visitor',
  'GET /sandbox/mails/:template': 'visitor',
  'GET /sandbox/refusals': 'visitor',
  'GET /sandbox/billing': 'visitor',
  'POST /sandbox/billing': 'visitor',
};
