import { type FileHandle, open } from 'node:fs/promises';
import type { ImportRefusal } from '../../users/index.ts';

/**
 * One line of the report. It contains nothing of the row except its id, which has no characters with a meaning in
 * spreadsheets.
 */
export interface Remark {
  line: number;
  /** The user's id; undefined if the row has none. */
  id?: string | undefined;
  kind: 'refused' | 'note';
  why: string;
}

export const refusalTexts: Record<ImportRefusal, string> = {
  'other-email': 'sub: a member here has this id, with another address; what is here stays',
  'email-taken': 'email: another member here has this address, or it is kept for another one',
  'phone-taken': 'phone_number: carries the second factor, and is another member’s here',
  left: 'sub: this member had themselves erased here, and does not come back by a file',
};

export const withoutPhoneText = 'phone_number: is another member’s here; left out';

export const withoutUsernameText = 'preferred_username: is another member’s here; left out';

export const linkedElsewhereText = 'identities: one is linked to another member here; left out';

export interface Report {
  /** Buffered until there is enough. */
  add(remarks: readonly Remark[]): Promise<void>;
  close(): Promise<void>;
}

const toCsvLine = ({ line, id = '', kind, why }: Remark) => `${line},${id},${kind},"${why.replaceAll('"', '""')}"\n`;

/** A CSV file of everything that was refused or skipped, readable only by its owner; without a path, nothing. */
export async function openReport(path: string | undefined): Promise<Report> {
  let file: FileHandle | undefined;
  if (path !== undefined) {
    file = await open(path, 'w', 0o600);
    await file.write('line,sub,kind,why\n');
  }
  return {
    async add(remarks) {
      if (file && remarks.length > 0) await file.write(remarks.map(toCsvLine).join(''));
    },
    close: async () => file?.close(),
  };
}
