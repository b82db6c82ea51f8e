/** The door as a picture: five arches, one in the other, the innermost lit. Colours come from the stylesheet. */
export function Arches() {
  return (
    <svg className="arches" viewBox="0 0 420 420" preserveAspectRatio="xMidYMax meet" fill="none" aria-hidden="true">
      <path className="arch arch-1" d="M20 420V210a190 190 0 0 1 380 0v210z" />
      <path className="arch arch-2" d="M58 420V210a152 152 0 0 1 304 0v210z" />
      <path className="arch arch-3" d="M96 420V210a114 114 0 0 1 228 0v210z" />
      <path className="arch arch-4" d="M134 420V210a76 76 0 0 1 152 0v210z" />
      <path className="arch arch-5" d="M172 420V210a38 38 0 0 1 76 0v210z" />
    </svg>
  );
}
