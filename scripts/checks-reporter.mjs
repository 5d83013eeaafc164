// A reporter of node:test for scripts/contract.mjs: one line of JSON for each test of a file. Tests within tests are of their test.
export default async function* checks(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.nesting > 0) continue;
    const passed = type === 'test:pass' && data.skip === undefined && data.todo === undefined;
    const why = passed ? '' : String(data.details?.error?.cause?.message ?? data.details?.error?.message ?? 'skipped');
    yield `${JSON.stringify({ file: data.file, name: data.name, passed, why })}\n`;
  }
}
