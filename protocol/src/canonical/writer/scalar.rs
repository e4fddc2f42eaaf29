//! Literals, numbers and strings: left in the run where they are canonical, rewritten where not.

use super::Writer;
use crate::canonical::error::CanonicalError;
use crate::canonical::number;
use crate::canonical::string::{self, Spelling};

impl Writer<'_, '_> {
    /// Reads `true`, `false` or `null`, whichever the first byte has promised.
    pub(super) fn literal(&mut self, text: &[u8]) -> Result<(), CanonicalError> {
        for &byte in text {
            if !self.cursor.eat(byte) {
                return Err(self.cursor.unexpected());
            }
        }
        Ok(())
    }

    /// Reads the number that is next.
    #[inline]
    pub(super) fn number(&mut self) -> Result<(), CanonicalError> {
        if number::skip_common(&mut self.cursor) {
            Ok(())
        } else {
            self.rare_number()
        }
    }

    #[cold]
    fn rare_number(&mut self) -> Result<(), CanonicalError> {
        let start = self.cursor.at();
        let number = number::scan(&mut self.cursor)?;
        if !number.is_canonical() {
            self.output.flush(start);
            number.push_canonical(&mut self.output.text);
            self.output.resume(self.cursor.at());
        }
        Ok(())
    }

    /// Reads the string whose opening quote is next.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Spelling, CanonicalError> {
        let start = self.cursor.at();
        self.cursor.skip(1);
        let spelling = string::scan(&mut self.cursor)?;
        if spelling == Spelling::Loose {
            self.loose_string(start)?;
        }
        Ok(spelling)
    }

    #[cold]
    fn loose_string(&mut self, start: usize) -> Result<(), CanonicalError> {
        self.output.flush(start);
        if let [_, inside @ .., _] = self.cursor.since(start) {
            string::push_minimal(inside, &mut self.output.text)?;
        }
        self.output.resume(self.cursor.at());
        Ok(())
    }
}
