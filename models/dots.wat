;; Dot products of int8 rows with an int16 query: `Dots` in src/engine/vectors/dot-kernel.ts. To compile it: models/README.md.
(module
  (import "env" "memory" (memory 1 65536 shared))
  ;; $addresses, $query and $out are byte addresses; $length is in components, a positive multiple of 16.
  (func (export "run")
    (param $addresses i32) (param $count i32) (param $length i32) (param $query i32) (param $out i32)
    (local $part i32) (local $end i32)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32)
    (local $low v128) (local $high v128)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    ;; While count >= 4: the next four rows together, so that each part of the query is read once.
    (block $done
      (loop $next
        (br_if $done (i32.lt_u (local.get $count) (i32.const 4)))
        (local.set $row0 (i32.load (local.get $addresses)))
        (local.set $sum0 (v128.const i32x4 0 0 0 0))
        (local.set $row1 (i32.load offset=4 (local.get $addresses)))
        (local.set $sum1 (v128.const i32x4 0 0 0 0))
        (local.set $row2 (i32.load offset=8 (local.get $addresses)))
        (local.set $sum2 (v128.const i32x4 0 0 0 0))
        (local.set $row3 (i32.load offset=12 (local.get $addresses)))
        (local.set $sum3 (v128.const i32x4 0 0 0 0))
        (local.set $part (i32.const 0))
        ;; Reads one number of each cache line first, so that the misses overlap: .75 of the time for uncached rows of 1,024 bytes.
        (loop $line
          (drop (i32.load (i32.add (local.get $row0) (local.get $part))))
          (drop (i32.load (i32.add (local.get $row1) (local.get $part))))
          (drop (i32.load (i32.add (local.get $row2) (local.get $part))))
          (drop (i32.load (i32.add (local.get $row3) (local.get $part))))
          (br_if $line
            (i32.lt_u (local.tee $part (i32.add (local.get $part) (i32.const 64))) (local.get $length))))
        (local.set $end (i32.add (local.tee $part (local.get $query)) (i32.shl (local.get $length) (i32.const 1))))
        ;; 16 components at a time: products of 8 pairs, each 4 sums of 32 bits.
        (loop $lanes
          (local.set $low (v128.load align=1 (local.get $part)))
          (local.set $high (v128.load offset=16 align=1 (local.get $part)))
          (local.set $sum0
            (i32x4.add
              (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s align=1 (local.get $row0)) (local.get $low))
                (local.get $sum0))
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 align=1 (local.get $row0)) (local.get $high))))
          (local.set $row0 (i32.add (local.get $row0) (i32.const 16)))
          (local.set $sum1
            (i32x4.add
              (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s align=1 (local.get $row1)) (local.get $low))
                (local.get $sum1))
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 align=1 (local.get $row1)) (local.get $high))))
          (local.set $row1 (i32.add (local.get $row1) (i32.const 16)))
          (local.set $sum2
            (i32x4.add
              (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s align=1 (local.get $row2)) (local.get $low))
                (local.get $sum2))
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 align=1 (local.get $row2)) (local.get $high))))
          (local.set $row2 (i32.add (local.get $row2) (i32.const 16)))
          (local.set $sum3
            (i32x4.add
              (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s align=1 (local.get $row3)) (local.get $low))
                (local.get $sum3))
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 align=1 (local.get $row3)) (local.get $high))))
          (local.set $row3 (i32.add (local.get $row3) (i32.const 16)))
          (br_if $lanes (i32.lt_u (local.tee $part (i32.add (local.get $part) (i32.const 32))) (local.get $end))))
        (i32.store
          (local.get $out)
          (i32.add
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sum0)) (i32x4.extract_lane 1 (local.get $sum0)))
              (i32x4.extract_lane 2 (local.get $sum0)))
            (i32x4.extract_lane 3 (local.get $sum0))))
        (i32.store offset=4
          (local.get $out)
          (i32.add
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sum1)) (i32x4.extract_lane 1 (local.get $sum1)))
              (i32x4.extract_lane 2 (local.get $sum1)))
            (i32x4.extract_lane 3 (local.get $sum1))))
        (i32.store offset=8
          (local.get $out)
          (i32.add
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sum2)) (i32x4.extract_lane 1 (local.get $sum2)))
              (i32x4.extract_lane 2 (local.get $sum2)))
            (i32x4.extract_lane 3 (local.get $sum2))))
        (i32.store offset=12
          (local.get $out)
          (i32.add
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sum3)) (i32x4.extract_lane 1 (local.get $sum3)))
              (i32x4.extract_lane 2 (local.get $sum3)))
            (i32x4.extract_lane 3 (local.get $sum3))))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $addresses (i32.add (local.get $addresses) (i32.const 16)))
        (local.set $count (i32.sub (local.get $count) (i32.const 4)))
        (br $next)))
    ;; The remaining rows, one by one.
    (block $done
      (loop $next
        (br_if $done (i32.lt_u (local.get $count) (i32.const 1)))
        (local.set $row0 (i32.load (local.get $addresses)))
        (local.set $sum0 (v128.const i32x4 0 0 0 0))
        (local.set $part (i32.const 0))
        (loop $line
          (drop (i32.load (i32.add (local.get $row0) (local.get $part))))
          (br_if $line
            (i32.lt_u (local.tee $part (i32.add (local.get $part) (i32.const 64))) (local.get $length))))
        (local.set $end (i32.add (local.tee $part (local.get $query)) (i32.shl (local.get $length) (i32.const 1))))
        (loop $lanes
          (local.set $low (v128.load align=1 (local.get $part)))
          (local.set $high (v128.load offset=16 align=1 (local.get $part)))
          (local.set $sum0
            (i32x4.add
              (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s align=1 (local.get $row0)) (local.get $low))
                (local.get $sum0))
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 align=1 (local.get $row0)) (local.get $high))))
          (local.set $row0 (i32.add (local.get $row0) (i32.const 16)))
          (br_if $lanes (i32.lt_u (local.tee $part (i32.add (local.get $part) (i32.const 32))) (local.get $end))))
        (i32.store
          (local.get $out)
          (i32.add
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sum0)) (i32x4.extract_lane 1 (local.get $sum0)))
              (i32x4.extract_lane 2 (local.get $sum0)))
            (i32x4.extract_lane 3 (local.get $sum0))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $addresses (i32.add (local.get $addresses) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))))
