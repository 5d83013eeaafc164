import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelIn } from '../../src/actors/clusters/label-clusters.ts';

test("a model's answer is a label without quotes, its lead-in and its full stop", () => {
  const labels: [answer: string, label: string | null][] = [
    ['Birds of rivers', 'Birds of rivers'],
    ['Label: "Birds of rivers".', 'Birds of rivers'],
    ['**Bread  and ovens**\nbecause they bake', 'Bread and ovens'],
    ['"..."', null],
    ['...', null],
    ['“Chess”', 'Chess'],
    ['C. elegans.', 'C. elegans'],
  ];
  for (const [answer, label] of labels) assert.equal(labelIn(answer), label, answer);
});
