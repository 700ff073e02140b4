"""What a stack that knows its minimum has to do."""

import unittest

from min_stack import MinStack


class MinStackTest(unittest.TestCase):
    def test_the_last_one_in_is_the_first_one_out(self) -> None:
        stack = MinStack()
        for number in (3, 1, 2):
            stack.push(number)
        self.assertEqual([stack.pop(), stack.pop(), stack.pop()], [2, 1, 3])

    def test_the_minimum_comes_back_after_a_pop(self) -> None:
        stack = MinStack()
        for number in (3, 1, 2):
            stack.push(number)
        self.assertEqual(stack.minimum(), 1)
        stack.pop()
        stack.pop()
        self.assertEqual(stack.minimum(), 3)

    def test_a_minimum_may_be_there_twice(self) -> None:
        stack = MinStack()
        for number in (1, 1):
            stack.push(number)
        stack.pop()
        self.assertEqual((stack.top(), stack.minimum()), (1, 1))

    def test_an_empty_stack_has_no_minimum(self) -> None:
        with self.assertRaises(IndexError):
            MinStack().minimum()


if __name__ == "__main__":
    unittest.main()
