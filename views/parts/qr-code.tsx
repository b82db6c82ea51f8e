interface QrCodeProps {
  /** The alternative text. */
  label: string;
  /** Width and height in modules, including the quiet zone. */
  size: number;
  /** The dark modules as an SVG path, one unit each. */
  path: string;
}

/** A QR code rendered on the server. Dark on light in both themes: scanners need it. */
export function QrCode({ label, size, path }: QrCodeProps) {
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect className="qr-light" width={size} height={size} />
      <path className="qr-dark" d={path} />
    </svg>
  );
}
