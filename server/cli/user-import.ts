import { type Command, Option } from 'commander';
import { importUsers } from './import/import-users.ts';
import type { JsonOption, Runner } from './runner.ts';

interface Options extends JsonOption {
  format?: 'csv' | 'json';
  dryRun?: boolean;
  report?: string;
  verified?: boolean;
  ignoreHashes?: boolean;
  provider?: string[];
  wrapWeakHashes?: boolean;
}

export function userImportCommand(users: Command, runner: Runner): void {
  users
    .command('import')
    .description('bring in the members of another service, with their ids')
    .argument(
      '<file>',
      'CSV with the columns of a Cognito user pool and sub; or JSON: of list-users, a list, or NDJSON',
    )
    .addOption(new Option('--format <F>', 'how the file is written; else its name says so').choices(['csv', 'json']))
    .option('--dry-run', 'say what would become of each row, and change nothing')
    .option('--report <FILE>', 'write each refused row and whatever is left out, with its line, as CSV')
    .option('--verified', 'you vouch for addresses of which the file says nothing')
    .option('--ignore-hashes', 'import no passwords: every member sets a new one')
    .option('--wrap-weak-hashes', 'put argon2id around each hash below the least work; some 20 ms each')
    .option('--provider <NAME=ID...>', 'what the other service calls a provider of PROVIDERS_FILE, and its id there')
    .option(
      '--json',
      'print JSON: {"rows", "added", "there", "refused", "notes", "withoutPassword", "weakHashes", "linked"}, and no progress',
    )
    .addHelpText(
      'after',
      `
Each row needs sub and email. Who is here already stays as they are: after a broken import, run the same again. Members whose
password cannot come along (Cognito gives none) are led to a new one when they first sign in. Hashes of argon2, bcrypt, scrypt
and pbkdf2 in password_hash are verified as they are, and replaced at the first sign-in. See docs/coming-from-cognito.md.

Examples:
  foyer user import users.csv --dry-run --report refused.csv
  foyer user import users.csv --report refused.csv
  foyer user import members.json --provider AcmeSaml=acme --provider AcmeOidc=acme-id`,
    )
    .action((file: string, options: Options) => {
      const { format, dryRun = false, report, verified = false, ignoreHashes = false, json: quiet = false } = options;
      const { provider: providers = [], wrapWeakHashes = false } = options;
      return runner.runOnStores(options, (context) =>
        importUsers(context, file, {
          dryRun,
          verified,
          ignoreHashes,
          wrapWeakHashes,
          quiet,
          providers,
          ...(format && { format }),
          ...(report !== undefined && { report }),
        }),
      );
    });
}
