export function PlainPage({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p className="soft">{text}</p>
    </>
  );
}
