import { legalFolder } from '../support/legal-folder.ts';
/** A production configuration: https, behind one proxy. */
export const site = 'https://login.example.com';

export const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: site,
  SECRET_KEY: 'the secret key of a production that is only a test',
  SEARCH_APP_URL: 'https://www.example.com/search',
  TRUST_PROXY: '1',
  MAIL_FROM: 'Foyer <no-reply@example.com>',
  LEGAL_DIR: legalFolder,
  SMTP_URL: 'smtp://127.0.0.1:9',
  SANDBOX: 'false',
};
