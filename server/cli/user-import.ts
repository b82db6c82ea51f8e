import { Option } from 'commander';
import type { AddCommand } from './command.ts';
import { type ImportOptions, importUsers } from './import/import-users.ts';

export const userImportCommand = (add: AddCommand): void =>
  add('import', {
    description: 'bring in the members of another service, with their ids',
    args: [
      ['<file>', 'CSV with the columns of a Cognito user pool and sub; or JSON: of list-users, a list, or NDJSON'],
    ],
    options: [
      new Option('--format <F>', 'how the file is written; else its name says so').choices(['csv', 'json']),
      ['--dry-run', 'say what would become of each row, and change nothing'],
      ['--report <FILE>', 'write each refused row and whatever is left out, with its line, as CSV'],
      ['--verified', 'you vouch for addresses of which the file says nothing'],
      ['--ignore-hashes', 'import no passwords: every member sets a new one'],
      ['--wrap-weak-hashes', 'put argon2id around each hash below the least work; some 20 ms each'],
      [
        '--trial',
        'the trial of each new confirmed member begins now; by default when they first open a page of the plans',
      ],
      ['--provider <NAME=ID...>', 'what the other service calls a provider of PROVIDERS_FILE, and its id there'],
    ],
    json: 'print JSON: {"rows", "added", "there", "refused", "notes", "withoutPassword", "weakHashes", "linked"}, and no progress',
    help: `
Each row needs sub and email. Who is here already stays as they are: after a broken import, run the same again. Members whose
password cannot come along (Cognito gives none) are led to a new one when they first sign in. Hashes of argon2, bcrypt, scrypt
and pbkdf2 in password_hash are verified as they are, and replaced at the first sign-in. See docs/coming-from-cognito.md.

Examples:
  foyer user import users.csv --dry-run --report refused.csv
  foyer user import users.csv --report refused.csv
  foyer user import members.json --provider AcmeSaml=acme --provider AcmeOidc=acme-id`,
    run: (file: string, options: ImportOptions) => (context) => importUsers(context, file, options),
  });
