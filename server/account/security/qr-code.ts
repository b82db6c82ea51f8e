import { encode } from 'uqr';

/** The light border in modules (ISO/IEC 18004, section 9.1). */
const quietZone = 4;

/** A QR code (ISO/IEC 18004) as an SVG path: its dark modules in rows, one unit each. `size` includes the quiet zone. */
export function qrCode(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'M', border: quietZone });
  const runs = data.flatMap((row, y) => toRuns(row).map(({ x, width }) => `M${x} ${y}h${width}v1h-${width}z`));
  return { size, path: runs.join('') };
}

function toRuns(row: readonly boolean[]): { x: number; width: number }[] {
  const runs: { x: number; width: number }[] = [];
  row.forEach((dark, x) => {
    const last = runs.at(-1);
    if (dark && last && last.x + last.width === x) last.width += 1;
    else if (dark) runs.push({ x, width: 1 });
  });
  return runs;
}
