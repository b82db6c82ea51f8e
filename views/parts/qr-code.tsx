export interface QrCodeProps {
  /** What is said in its place. */
  label: string;
  /** How many modules wide and high, the quiet zone included. */
  size: number;
  /** The dark modules as an SVG path, one unit each. */
  path: string;
}

/** A QR code drawn on the server. Dark on light in both themes: scanners expect it so. */
export function QrCode({ label, size, path }: QrCodeProps) {
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect className="qr-light" width={size} height={size} />
      <path className="qr-dark" d={path} />
    </svg>
  );
}
