import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageAddress } from '../../../extension/src/capture/page-address.ts';
import { activityLastsMs, ReadingTimer, scrollLastsMs } from '../../../extension/src/capture/reading-timer.ts';

const rule = { activeMs: 10_000, scrollShare: 0.5 };
const here = { visible: true, focused: true, mediaPlaying: false };

/** Step each second up to and including `seconds`. */
function pass(timer: ReadingTimer, from: number, seconds: number, attention = here): number {
  for (let at = 1; at <= seconds; at++) timer.step(from + at * 1000, attention);
  return from + seconds * 1000;
}

test('a page is read after so many seconds of attention', () => {
  const timer = new ReadingTimer(0);
  const at = pass(timer, 0, 9);
  assert.equal(timer.isRead(rule), false);
  pass(timer, at, 1);
  assert.equal(timer.isRead(rule), true);
});

test('hidden and unfocused time does not count', () => {
  const timer = new ReadingTimer(0);
  let at = pass(timer, 0, 60, { ...here, visible: false });
  at = pass(timer, at, 60, { ...here, focused: false });
  assert.equal(timer.activeMs, 0);
});

test('without a sign of anybody it stops to count, and goes on with one; playing media is one', () => {
  const timer = new ReadingTimer(0);
  let at = pass(timer, 0, 100);
  assert.equal(timer.activeMs, activityLastsMs);
  timer.activity(at);
  at = pass(timer, at, 2);
  assert.equal(timer.activeMs, activityLastsMs + 2000);
  at = pass(timer, at, 100, { ...here, mediaPlaying: true });
  assert.equal(timer.activeMs, activityLastsMs + 102_000);
});

test('a machine that slept has read nothing, and a clock that is put back takes nothing', () => {
  const timer = new ReadingTimer(0);
  timer.activity(3_600_000);
  timer.step(3_600_000, here);
  assert.equal(timer.activeMs, 2000);
  timer.step(0, here);
  assert.equal(timer.activeMs, 2000);
});

test('scrolling past the share makes it read after three seconds', () => {
  const timer = new ReadingTimer(0);
  timer.scrolled(1);
  let at = pass(timer, 0, 2);
  assert.equal(timer.isRead(rule), false);
  at = pass(timer, at, 1);
  assert.equal(timer.isRead(rule), true);
  const little = new ReadingTimer(0);
  little.scrolled(0.49);
  pass(little, 0, 9);
  assert.equal(little.isRead(rule), false);
});

test('only what a person set in motion is scrolling by a person, which keeps the page active', () => {
  const timer = new ReadingTimer(0);
  assert.equal(timer.scrolling(100), false, 'a page may scroll itself, and the browser does after a reload');
  const at = pass(timer, 0, 20);
  timer.activity(at);
  assert.equal(timer.scrolling(at + scrollLastsMs), true);
  assert.equal(timer.scrolling(at + scrollLastsMs + 1), false);
  pass(timer, at, 60);
  assert.equal(timer.activeMs, activityLastsMs + scrollLastsMs + activityLastsMs);
});

test('a visit is of the time when it was first read, and stays so', () => {
  const timer = new ReadingTimer(0);
  assert.equal(timer.startedAt, 0);
  const hidden = { visible: false, focused: true, mediaPlaying: false };
  for (let at = 1000; at <= 60_000; at += 1000) timer.step(at, hidden);
  timer.activity(60_000);
  const end = pass(timer, 60_000, 5);
  assert.equal(timer.startedAt, 60_000);
  pass(timer, end, 5);
  assert.equal(timer.startedAt, 60_000);
});

test('a change of the address is no sign of a person: the last signs of the view before count on', () => {
  const first = new ReadingTimer(0);
  first.activity(1000);
  const second = new ReadingTimer(12_000, first);
  assert.equal(second.startedAt, 12_000);
  assert.equal(second.scrolling(12_000), false);
  let at = pass(second, 12_000, 60);
  assert.equal(second.activeMs, 4000, 'up to 15 s after the last sign');
  const third = new ReadingTimer(at, second);
  at = pass(third, at, 60);
  assert.equal(third.activeMs, 0);
  third.activity(at);
  pass(third, at, 60);
  assert.equal(third.activeMs, activityLastsMs);
});

test('a view is told by its address without names, passwords and places within it', () => {
  assert.equal(pageAddress('https://me:secret@example.org/a?b#part'), 'https://example.org/a?b');
  assert.equal(pageAddress('https://example.org/#/inbox/1'), 'https://example.org/#/inbox/1');
});
