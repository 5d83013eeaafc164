import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelIn } from '../../../src/actors/clusters/label-clusters.ts';

test("a model's answer is a label without quotes, its lead-in and its full stop", () => {
  const labels: [answer: string, label: string | null][] = [
    ['Birds of rivers', 'Birds of rivers'],
    ['Label: "Birds of rivers".', 'Birds of rivers'],
    ['**Bread  and ovens**\nbecause they bake', 'Bread and ovens'],
    ['"..."', null],
    ['...', null],
    ['“Chess”', 'Chess'],
    ['C. elegans.', 'C. elegans'],
    ['# Label: **Birds of rivers**', 'Birds of rivers'],
    ['Here is a label for the topic:\n\nBirds of rivers', 'Birds of rivers'],
    ['<think>Herons,\nstorks: birds.</think>\n\nBirds of rivers', 'Birds of rivers'],
    ['Birds\u001b[31m of\u0007 rivers', 'Birds [31m of rivers'],
    ['河边的鸟', '河边的鸟'],
    ['I am sorry, but I can not name a topic without more information', null],
    ['{"label": "Birds of rivers"}', null],
    ['<think>and then it was cut off', null],
    ['***', null],
    [':', null],
    ['', null],
  ];
  for (const [answer, label] of labels) assert.equal(labelIn(answer), label, answer);
});
