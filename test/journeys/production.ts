import { legalFolder } from '../support/legal-folder.ts';

/** The variables of a production that starts; the database is in DATA_DIR. */
export const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://login.example.com',
  SECRET_KEY: 'one of the secrets that only tests know',
  SEARCH_APP_URL: 'https://search.example.com',
  TRUST_PROXY: '1',
  MAIL_FROM: 'Foyer <no-reply@example.com>',
  LEGAL_DIR: legalFolder,
  SMTP_URL: 'smtp://127.0.0.1:9',
};
