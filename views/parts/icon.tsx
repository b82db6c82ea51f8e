/** Icons of 20 × 20, drawn in the same line as the mark. Decoration only: the text beside them has the meaning. */
const paths = {
  alert: 'M10 6.2v4.4M10 13.6v.1M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z',
  arrow: 'M4 10h12M11 5l5 5-5 5',
  back: 'M12.5 4.5L7 10l5.5 5.5',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1.2 1.5H3.8L5 14zM8.3 17.2h3.4M10 4V2.5',
  check: 'M6.4 10.4l2.4 2.4 4.8-5.2M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z',
  close: 'M5 5l10 10M15 5L5 15',
  down: 'M5 7.5l5 5 5-5',
  dot: 'M10 9.2v1.6M9.2 10h1.6',
  eye: 'M1.8 10S4.6 4.6 10 4.6 18.2 10 18.2 10 15.4 15.4 10 15.4 1.8 10 1.8 10zM10 7.6a2.4 2.4 0 1 1 0 4.8 2.4 2.4 0 0 1 0-4.8z',
  info: 'M10 9.4v4.4M10 6.4v.1M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z',
  lock: 'M5.5 9h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1zM7 9V6.5a3 3 0 0 1 6 0V9',
  pencil: 'M12.8 4.2l3 3L7 16H4v-3z',
  search: 'M13.4 13.4l4 4M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z',
  tick: 'M4.5 10.6l3.6 3.6 7.4-8.2',
} as const;

type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
