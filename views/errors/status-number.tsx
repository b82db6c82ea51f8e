/** A status number as a picture, each zero an arch. Decoration: the heading describes the error. */
export function StatusNumber({ status }: { status: number }) {
  return (
    <div className="status-number" aria-hidden="true">
      {Array.from(String(status), (digit, at) =>
        digit === '0' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: digits never move
          <svg key={at} viewBox="0 0 60 84" fill="none" aria-hidden="true">
            <path className="arch-3" d="M0 84V30a30 30 0 0 1 60 0v54z" />
            <path className="arch-4" d="M12 84V30a18 18 0 0 1 36 0v54z" />
            <path className="arch-5" d="M22 84V30a8 8 0 0 1 16 0v54z" />
          </svg>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: digits never move
          <span key={at}>{digit}</span>
        ),
      )}
    </div>
  );
}
