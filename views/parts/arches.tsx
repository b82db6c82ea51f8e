/**
 * The picture on the sign-in pages: five nested arches, and light that falls through. The stylesheet has the colors.
 */
export function Arches() {
  return (
    <svg className="arches" viewBox="0 84 420 336" preserveAspectRatio="xMaxYMax meet" fill="none" aria-hidden="true">
      <defs>
        <linearGradient id="arch-light" x1="0" y1="0" x2="0" y2="1">
          <stop className="light-near" offset="0" />
          <stop className="light-far" offset="1" />
        </linearGradient>
        <radialGradient id="arch-glow">
          <stop className="glow-near" offset="0" />
          <stop className="light-far" offset="1" />
        </radialGradient>
      </defs>
      <path className="arch-1" d="M20 420V210a190 190 0 0 1 380 0v210z" />
      <path className="arch-2" d="M58 420V210a152 152 0 0 1 304 0v210z" />
      <path className="arch-3" d="M96 420V210a114 114 0 0 1 228 0v210z" />
      <ellipse cx="210" cy="290" rx="190" ry="230" fill="url(#arch-glow)" />
      <path className="arch-4" d="M134 420V210a76 76 0 0 1 152 0v210z" />
      <path className="arch-5" d="M172 420V210a38 38 0 0 1 76 0v210z" />
      <path d="M134 420h152l90 130H44z" fill="url(#arch-light)" />
    </svg>
  );
}
