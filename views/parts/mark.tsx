import type { PageContext } from '../page-context.ts';

/** Foyer's sign: nested arches. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 28 28" fill="none" aria-hidden="true">
      <path d="M3 25V14a11 11 0 0 1 22 0v11" />
      <path d="M8.5 25V14.5a5.5 5.5 0 0 1 11 0V25" />
      <path d="M14 25v-9" />
    </svg>
  );
}

/** The brand's logo (or Foyer's sign) and name, as a link to the start page. */
export function Brand({ brand }: { brand: PageContext['brand'] }) {
  return (
    <a className="brand" href="/">
      {brand.logoUrl === undefined ? <Mark /> : <img src={brand.logoUrl} alt="" height={28} />}
      <span>{brand.name}</span>
    </a>
  );
}
