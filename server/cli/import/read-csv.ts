import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { printable } from '../text.ts';
import { brokenFile, maxRowSize, readChunks, type SourceRow } from './source.ts';

/** The library's own messages would contain the text of a cell. */
const faults: Record<string, string> = {
  CSV_MAX_RECORD_SIZE: `a row is longer than ${maxRowSize} bytes; a quote that is not closed, perhaps`,
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  INVALID_OPENING_QUOTE: 'a quote stands within a cell that does not begin with one',
  CSV_INVALID_CLOSING_QUOTE: 'something stands behind a closing quote',
};

interface CsvRow {
  record: string[];
  info: { lines: number };
}

const normaliseHeaders = (cells: readonly string[]) => cells.map((name) => name.trim().toLowerCase());

function headerFaults(names: readonly string[]): string | undefined {
  if (names.length === 1 && /[;\t]/.test(names[0] ?? '')) return 'the cells must be separated by commas';
  // First: the message must not show the first user of a file without column names.
  if (!names.includes('email')) return 'the first line must name the columns, among them email';
  const twice = names.filter((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice.length === 0) return undefined;
  return `a column stands twice: ${printable([...new Set(twice)].join(', ').slice(0, 200))}`;
}

/** Rows that are truncated, or shifted by an additional cell, must not become a user. */
function toRow(names: readonly string[], cells: readonly string[], line: number): SourceRow {
  const values = new Map<string, string>();
  if (cells.length !== names.length) {
    return { line, values, fault: `has ${cells.length} cells, the first line has ${names.length}` };
  }
  for (const [index, name] of names.entries()) {
    const cell = cells[index]?.trim() ?? '';
    if (name !== '' && cell !== '') values.set(name, cell);
  }
  return { line, values };
}

/**
 * The rows of a CSV file (RFC 4180) whose first line names the columns: the format of a Cognito user pool's import, and
 * more.
 * @throws {CliError} refused
 */
export async function* readCsv(path: string, onBytes: (read: number) => void): AsyncGenerator<SourceRow> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowSize,
  });
  const source = Readable.from(readChunks(path, onBytes));
  source.once('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let names: string[] | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRow>) {
      if (!names) {
        names = normaliseHeaders(record);
        const fault = headerFaults(names);
        if (fault !== undefined) throw brokenFile(path, fault, 1);
        continue;
      }
      // The library counts the lines up to the row's end.
      const within = record.reduce((count, cell) => count + (cell.match(/\n/g)?.length ?? 0), 0);
      yield toRow(names, record, info.lines - within);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw brokenFile(path, faults[error.code] ?? 'this is no CSV', Number(error.lines) || undefined);
  } finally {
    source.destroy();
  }
  if (!names) throw brokenFile(path, 'is empty');
}
