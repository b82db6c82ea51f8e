import type { ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  label: string;
  /** Amounts and numbers are aligned at the end, in figures of one width. */
  numeric?: boolean;
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Replaces the rows if there are none. */
  empty?: ReactNode;
}

/**
 * A table that becomes a list of labelled values where it has up to 544 px. The roles are explicit because a changed `display`
 * removes them from the elements.
 */
export function Table<Row>({ caption, columns, rows, rowKey, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return empty;
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <table className="table" role="table">
      <caption className="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ key, label, numeric }) => (
            <th key={key} role="columnheader" scope="col" className={numeric ? 'numeric' : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row">
            {columns.map(({ key, label, numeric, cell }) => (
              <td key={key} role="cell" data-label={label} className={numeric ? 'numeric' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}
